import { applyDecorators } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiResponse, type ApiResponseOptions } from '@nestjs/swagger';
import type { z } from 'zod';
import { type ProblemCode, problemKinds } from './problems.js';
import { PROBLEM_TYPE } from './send-problem.js';

/** One operation as the OpenAPI document tells it. */
export interface OperationOptions {
  /** `operationId`: the name of the function in generated clients. */
  id: string;
  summary: string;
  /** The status of the answer; 200 by default. */
  status?: number;
  /** What the answer holds; left out: nothing. */
  answer?: z.ZodType;
  answerDescription?: string;
  /** A file instead of an answer: its types. */
  files?: readonly string[];
  /** Whose key it takes; `nobody` for open routes. A tenant's by default. */
  security?: 'tenantKey' | 'adminKey' | 'nobody';
  /** Problems beside those that every operation of its kind has. */
  problems?: readonly ProblemCode[];
}

const FILE = { type: 'string', format: 'binary' } as const;

const COMMON = {
  tenantKey: ['invalid_request', 'unauthorized', 'tenant_suspended', 'internal', 'unavailable'],
  adminKey: ['invalid_request', 'unauthorized', 'internal', 'unavailable'],
  nobody: [],
} as const satisfies Record<string, readonly ProblemCode[]>;

/** Describes a route in the OpenAPI document: its name, its answer, its key and the problems it may end with. */
export function Operation(options: OperationOptions): MethodDecorator {
  const { id, summary, status = 200, answer, answerDescription = 'Done.', security = 'tenantKey' } = options;
  const problems = new Set<ProblemCode>([...COMMON[security], ...(options.problems ?? [])]);
  return applyDecorators(
    ApiOperation({ operationId: id, summary }),
    ApiResponse({
      status,
      description: answerDescription,
      ...(answer && { standardSchema: answer }),
      ...(options.files && { content: Object.fromEntries(options.files.map((type) => [type, { schema: FILE }])) }),
    }),
    ...problemResponses([...problems]).map((response) => ApiResponse(response)),
    ...(security === 'nobody' ? [] : [ApiBearerAuth(security)]),
  );
}

/** One response per status, for OpenAPI knows no two of one status. */
function problemResponses(codes: readonly ProblemCode[]): ApiResponseOptions[] {
  const statuses = new Set(codes.map((code) => problemKinds[code].status));
  return [...statuses].map((status) => ({
    status,
    description: codes
      .filter((code) => problemKinds[code].status === status)
      .map((code) => `\`${code}\`: ${problemKinds[code].title}.`)
      .join(' '),
    content: { [MEDIA_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
  }));
}

const [MEDIA_TYPE = ''] = PROBLEM_TYPE.split(';');
