import { ConflictError } from '#libs/core';
import { HttpException, NotFoundException } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { fromFramework } from './framework-errors.js';

const request = { method: 'POST', url: '/v1/nothing?access_token=secret' };

function fastifyError(statusCode: number, code: string): Error {
  return Object.assign(new Error('its own words'), { name: 'FastifyError', statusCode, code });
}

describe('fromFramework', () => {
  it('lets our own errors through', () => {
    const error = new ConflictError('It exists already.');
    expect(fromFramework(error, request)).toBe(error);
  });

  it('names a route that is not there, without its query', () => {
    const error = fromFramework(new NotFoundException(), request);
    expect(error).toMatchObject({ code: 'not_found' });
    expect(error.message).toContain('POST /v1/nothing');
    expect(error.message).not.toContain('secret');
  });

  it.each([
    [413, 'FST_ERR_CTP_BODY_TOO_LARGE', 'payload_too_large'],
    [415, 'FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported_media_type'],
    [414, 'FST_ERR_MAX_PARAM_LENGTH', 'invalid_request'],
    [400, 'FST_ERR_BAD_URL', 'invalid_request'],
    [400, 'FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'invalid_request'],
    [405, 'FST_ERR_SOMETHING_NEW', 'invalid_request'],
    [503, 'FST_ERR_HANDLER_TIMEOUT', 'internal'],
  ])('takes a %i of Fastify (%s) as %s, thrown as it is or through Nest', (status, cause, code) => {
    const thrown = fastifyError(status, cause);
    expect(fromFramework(thrown, request).code).toBe(code);
    expect(fromFramework(new HttpException('words', status, { cause: thrown }), request).code).toBe(code);
    expect(fromFramework(thrown, request).message).not.toContain('its own words');
  });

  it('takes everything else as a fault of ours', () => {
    for (const thrown of [new Error('boom'), 'boom', undefined, { statusCode: 404 }]) {
      expect(fromFramework(thrown, request).code).toBe('internal');
    }
    expect(fromFramework(Object.assign(new Error('boom'), { statusCode: 404 }), request).code).toBe('internal');
  });
});
