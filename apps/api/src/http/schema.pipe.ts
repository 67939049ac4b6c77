import { InvalidRequestError, NotFoundError } from '#libs/core';
import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { z } from 'zod';
import { invalidBody, sentence, show, toFaults } from './faults.js';

/**
 * Checks what a parameter's `schema` describes. In place of Nest's own pipe, which takes keys such as `constructor` out
 * of a body without a word, and knows nothing of pointers. A path that names a thing in a form that no name has leads
 * to nothing: 404.
 */
export class SchemaPipe implements PipeTransform {
  transform(value: unknown, { schema, type, data }: ArgumentMetadata): unknown {
    if (!(schema instanceof z.core.$ZodType)) return value;
    const result = z.safeParse(schema, value);
    if (result.success) return result.data;
    if (type === 'param') throw new NotFoundError(`There is nothing named ${show(value)}.`);
    const faults = toFaults(result.error.issues, value);
    if (type === 'body') throw value === undefined ? noBody() : invalidBody(faults);
    throw new InvalidRequestError(`The query is not valid: ${data ?? ''}${sentence(faults)}`);
  }
}

/** Checks a name in the path of a PUT, which gives a new thing its name: a form that no name has is 400. */
export class NamePipe implements PipeTransform {
  constructor(private readonly schema: z.ZodType<string>) {}

  transform(value: unknown): string {
    const result = this.schema.safeParse(value);
    if (result.success) return result.data;
    throw new InvalidRequestError(`${show(value)} in the path is refused: ${result.error.issues[0]?.message}.`);
  }
}

function noBody(): InvalidRequestError {
  return new InvalidRequestError('The request has no body: send a JSON object.');
}
