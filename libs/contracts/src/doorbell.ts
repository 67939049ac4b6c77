import { z } from 'zod';

/**
 * Messages over Redis pub/sub. All of them only say where to look: nothing may depend on one having arrived
 * (9. Protocols, 21 and 22).
 */
const toApi = z.discriminatedUnion('kind', [
  /** The row of a cell has something for its observer: spilled output, a boundary, or its end. */
  z.strictObject({ kind: z.literal('cell'), cellId: z.string(), token: z.string() }),
  /** A worker has stopped a cell and its output is complete. */
  z.strictObject({ kind: z.literal('stopped'), cellId: z.string() }),
]);

const toWorker = z.discriminatedUnion('kind', [
  /** Stop the cell if it is here, spill what it wrote, and tell the API process. The row says `terminated` already. */
  z.strictObject({ kind: z.literal('stop'), cellId: z.string(), replyTo: z.string() }),
  /** The cell has a new observer: its row tells until when it observes. */
  z.strictObject({ kind: z.literal('observe'), cellId: z.string() }),
]);

/** What API processes and workers tell each other. */
export const doorbellSchema = z.union([toApi, toWorker]);
export type Doorbell = z.infer<typeof doorbellSchema>;
