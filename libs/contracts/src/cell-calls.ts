import { z } from 'zod';
import { toolsetNameSchema } from './names.js';

export const callIdSchema = z.string().meta({
  id: 'CallId',
  description: 'A tool call. The idempotency key of its result.',
  example: 'call_7ZK3M9QH2V4XN8TB',
});

/** A call that waits for its result from the platform. */
export const pendingCallSchema = z
  .object({
    callId: callIdSchema,
    tool: z.string().meta({ description: 'The raw name.' }),
    namespace: z.string().optional(),
    toolset: toolsetNameSchema,
    identifier: z.string().meta({ description: 'The name in scripts.' }),
    arguments: z.record(z.string(), z.unknown()),
    expiresAt: z.string().meta({ format: 'date-time' }),
  })
  .meta({ id: 'PendingCall' });

/** A call as a row of a transcript. */
export const callRowSchema = z
  .object({
    callId: callIdSchema,
    identifier: z.string(),
    row: z.string().meta({ description: 'The name of the row.' }),
    state: z.enum(['running', 'completed', 'failed', 'cancelled']),
    durationMs: z.number(),
  })
  .meta({ id: 'CallRow' });

export type PendingCall = z.infer<typeof pendingCallSchema>;
export type CallRow = z.infer<typeof callRowSchema>;
