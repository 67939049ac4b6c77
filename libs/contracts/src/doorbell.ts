import { CELL_ERROR_CODES } from '#libs/core';
import { z } from 'zod';

/** JSON of what a doorbell may carry, in characters (9. Protocols, 21). */
export const MAX_CARRIED_CHARS = 16_384;

const warningSchema = z.strictObject({ code: z.string(), message: z.string() });

/**
 * The end of a cell, all that its observer needs: it stands for reading the row. Only where everything not collected
 * came with the end, and is small.
 */
export const carriedEndSchema = z.strictObject({
  tenantId: z.string(),
  dialect: z.enum(['exec', 'codemode']),
  state: z.enum(['completed', 'failed']),
  maxOutputTokens: z.number(),
  collected: z.number().int(),
  items: z.array(
    z.union([
      z.strictObject({ kind: z.enum(['text', 'console']), text: z.string() }),
      z.strictObject({
        kind: z.enum(['image', 'audio']),
        data: z.string(),
        mimeType: z.string(),
        artifactId: z.string().optional(),
      }),
    ]),
  ),
  failure: z
    .strictObject({ code: z.enum(CELL_ERROR_CODES), message: z.string(), frames: z.string().optional() })
    .optional(),
  warnings: z.array(warningSchema),
  timings: z.strictObject({ queuedMs: z.number(), wallMs: z.number(), cpuMs: z.number() }),
});
export type CarriedEnd = z.infer<typeof carriedEndSchema>;

/**
 * Messages over Redis pub/sub. All of them only say where to look: nothing may depend on one having arrived
 * (9. Protocols, 21 and 22).
 */
const toApi = z.discriminatedUnion('kind', [
  /** The row of a cell has something for its observer: spilled output, a boundary, or its end (perhaps carried). */
  z.strictObject({
    kind: z.literal('cell'),
    cellId: z.string(),
    token: z.string(),
    end: carriedEndSchema.optional(),
  }),
  /** A worker has stopped a cell and its output is complete. */
  z.strictObject({ kind: z.literal('stopped'), cellId: z.string() }),
]);

const toWorker = z.discriminatedUnion('kind', [
  /** Stop the cell if it is here, spill what it wrote, and tell the API process. The row says `terminated` already. */
  z.strictObject({ kind: z.literal('stop'), cellId: z.string(), replyTo: z.string() }),
  /** The cell has a new observer: its row tells until when it observes. */
  z.strictObject({ kind: z.literal('observe'), cellId: z.string() }),
  /** Calls of the cell have results. */
  z.strictObject({ kind: z.literal('settled'), cellId: z.string() }),
]);

/** What API processes and workers tell each other. */
export const doorbellSchema = z.union([toApi, toWorker]);
export type Doorbell = z.infer<typeof doorbellSchema>;
