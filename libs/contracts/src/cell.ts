import { CELL_ERROR_CODES, CELL_STATES, limits } from '#libs/core';
import { z } from 'zod';
import { callRowSchema, pendingCallSchema } from './cell-calls.js';
import { branchIdSchema, cellIdSchema, memberIdSchema } from './names.js';

const owner = {
  memberId: memberIdSchema.optional(),
};
const run = {
  ...owner,
  branchId: branchIdSchema.optional().meta({ description: 'Default `main`.' }),
};
const tooLarge = `at most ${limits.sourceBytes} bytes`;

/** `POST .../exec`. The source may start with `// @exec: {"yield_time_ms": N, "max_output_tokens": N}`. */
export const postExecSchema = z
  .strictObject({ source: z.string().meta({ description: `The script: raw JavaScript, ${tooLarge}.` }), ...run })
  .meta({ id: 'PostExec' });

/** `POST .../codemode`. The code may start with `// @options: {"max_output_tokens": N, "timeout_ms": N}`. */
export const postCodemodeSchema = z
  .strictObject({ code: z.string().meta({ description: `The script: raw JavaScript, ${tooLarge}.` }), ...run })
  .meta({ id: 'PostCodemode' });

const optionalCount = (description: string) =>
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).nullable().optional().meta({ description });

/** How a request observes a cell that there is already. `null` means absent. */
const observeArguments = {
  cell_id: cellIdSchema,
  yield_time_ms: optionalCount('How long to observe, in ms. Default 10,000; more than the maximum is lowered.'),
  max_tokens: optionalCount('Output budget of this answer in estimated tokens. Default 10,000.'),
};

/** The part of `wait` that other requests may carry. */
export const observeSchema = z.strictObject(observeArguments).meta({ id: 'Observe' });

/** `POST .../wait`. `null` means absent. */
export const postWaitSchema = z
  .strictObject({
    ...observeArguments,
    terminate: z.boolean().nullable().optional().meta({ description: 'Stop the cell. Default false.' }),
    ...owner,
  })
  .meta({ id: 'PostWait' });

const contentBlockSchema = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
    z.object({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
  ])
  .meta({ id: 'ContentBlock', description: 'A content block of MCP, ready for a model.' });

const artifactSchema = z
  .object({
    artifactId: z.string().meta({ description: '`a_` and 16 characters of Crockford base32.' }),
    kind: z.enum(['image', 'output']).meta({ description: '`output`: the full text of a result that was cut.' }),
    mimeType: z.string(),
    bytes: z.number().int().meta({ description: 'Size of the file.' }),
  })
  .meta({ id: 'Artifact' });

const failureSchema = z.object({
  code: z.enum(CELL_ERROR_CODES).meta({ description: 'Stable code, see docs/errors.md.' }),
  message: z.string(),
});

/** The answer to exec, codemode and wait. */
export const cellResultSchema = z
  .object({
    cellId: cellIdSchema,
    dialect: z.enum(['exec', 'codemode']),
    state: z.enum(['running', 'completed', 'failed', 'terminated']),
    content: z.array(contentBlockSchema).meta({ description: 'First the status line, then what is new, in order.' }),
    isError: z.boolean().meta({ description: 'True for `failed` only.' }),
    error: failureSchema.optional(),
    notes: z.array(z.object({ cellId: cellIdSchema, text: z.string(), at: z.string() })),
    pendingCalls: z
      .array(pendingCallSchema)
      .meta({ description: 'Calls that wait for their results: run them and post the results to tool-results.' }),
    pendingApprovals: z.array(z.unknown()),
    warnings: z.array(z.object({ code: z.string(), message: z.string() })),
    artifacts: z
      .array(artifactSchema)
      .meta({ description: 'Files that this answer shows or names: read them at `artifacts/{a}`.' }),
    calls: z.array(callRowSchema).meta({ description: 'All tool calls so far, in order of start; the newest 1,000.' }),
    effective: z
      .object({
        yield_time_ms: z.number().int().optional(),
        max_output_tokens: z.number().int().optional(),
        max_tokens: z.number().int().optional(),
        timeout_ms: z.number().int().optional(),
      })
      .meta({ description: 'The values in force, after lowering to the server maximum.' }),
    timings: z.object({
      queuedMs: z.number().meta({ description: 'From acceptance until a worker took the cell.' }),
      wallMs: z.number().meta({ description: 'Since the cell was accepted.' }),
      cpuMs: z.number().meta({ description: 'CPU time of the script.' }),
    }),
  })
  .meta({ id: 'CellResult' });

/** Query of `GET .../artifacts/{a}`. */
export const getArtifactQuerySchema = z.strictObject({ memberId: memberIdSchema.optional() });

/** `GET .../cells`: the writer's cells, newest first. */
export const cellListSchema = z
  .object({
    cells: z.array(
      z.object({
        cellId: cellIdSchema,
        dialect: z.enum(['exec', 'codemode']),
        state: z.enum(CELL_STATES),
        createdAt: z.string().meta({ format: 'date-time' }),
        startedAt: z.string().optional().meta({ format: 'date-time' }),
        endedAt: z.string().optional().meta({ format: 'date-time' }),
        error: failureSchema.optional(),
      }),
    ),
    next: z.string().optional().meta({ description: 'Cursor of the next page; absent on the last.' }),
  })
  .meta({ id: 'CellList' });

/** Query of `GET .../cells`. */
export const listCellsQuerySchema = z.strictObject({
  memberId: memberIdSchema.optional(),
  limit: z.coerce.number().int().min(1).max(200).optional().meta({ description: 'Default 50.' }),
  cursor: z.string().max(256).optional(),
});

export type PostExec = z.infer<typeof postExecSchema>;
export type PostCodemode = z.infer<typeof postCodemodeSchema>;
export type ObserveArguments = z.infer<typeof observeSchema>;
export type PostWait = z.infer<typeof postWaitSchema>;
export type CellResult = z.infer<typeof cellResultSchema>;
export type GetArtifactQuery = z.infer<typeof getArtifactQuerySchema>;
export type CellList = z.infer<typeof cellListSchema>;
export type ListCellsQuery = z.infer<typeof listCellsQuerySchema>;
