import { z } from 'zod';
import { callIdSchema } from './cell-calls.js';
import { cellResultSchema, observeSchema } from './cell.js';
import { memberIdSchema } from './names.js';

const annotations = { annotations: z.unknown().optional(), _meta: z.unknown().optional() };
const media = { data: z.string(), mimeType: z.string(), ...annotations };

const toolContentSchema = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('text'), text: z.string(), ...annotations }),
    z.strictObject({ type: z.literal('image'), ...media }),
    z.strictObject({ type: z.literal('audio'), ...media }),
    z.looseObject({ type: z.literal('resource_link'), uri: z.string() }),
    z.strictObject({
      type: z.literal('resource'),
      resource: z.looseObject({ uri: z.string(), text: z.string().optional() }),
      ...annotations,
    }),
  ])
  .meta({ id: 'ToolContent', description: 'A content block of MCP.' });

const callToolResultSchema = z
  .strictObject({
    content: z.array(toolContentSchema),
    structuredContent: z.unknown().optional().meta({ description: 'Needed where the tool has an outputSchema.' }),
    isError: z.boolean().optional(),
    _meta: z.unknown().optional(),
  })
  .meta({ id: 'CallToolResult', description: "MCP's CallToolResult." });

const postedResultSchema = z
  .strictObject({
    callId: callIdSchema,
    result: callToolResultSchema.optional(),
    error: z.strictObject({ message: z.string().max(16_384) }).optional(),
  })
  .refine(({ result, error }) => (result === undefined) !== (error === undefined), {
    message: 'an entry has either a result or an error',
  })
  .meta({ id: 'PostedResult', description: 'What a call came to: a result, or an error that rejects it.' });

/** `POST .../tool-results`: settles calls, and observes a cell further where `observe` is given. */
export const postToolResultsSchema = z
  .strictObject({
    memberId: memberIdSchema.optional(),
    results: z.array(postedResultSchema).min(1).max(1_000),
    observe: observeSchema.optional(),
  })
  .meta({ id: 'PostToolResults' });

/** What came of each entry, in their order. */
export const toolResultStatusSchema = z
  .object({
    callId: callIdSchema,
    status: z.enum(['settled', 'duplicate', 'conflict', 'closed', 'not_found']).meta({
      description:
        '`duplicate`: it had this result already. `conflict`: it has another one. `closed`: its cell has ended, or its time was up.',
    }),
  })
  .meta({ id: 'ToolResultStatus' });

export const toolResultsSchema = z
  .object({ results: z.array(toolResultStatusSchema), cell: cellResultSchema.optional() })
  .meta({ id: 'ToolResults' });

export type PostToolResults = z.infer<typeof postToolResultsSchema>;
export type PostedResult = z.infer<typeof postedResultSchema>;
export type ToolResults = z.infer<typeof toolResultsSchema>;
