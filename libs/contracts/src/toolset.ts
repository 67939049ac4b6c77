import { z } from 'zod';
import { toolsetNameSchema } from './names.js';

export const exposureSchema = z.enum(['core', 'declared', 'deferred', 'model-only']).meta({
  id: 'Exposure',
  description: 'How the model learns of a tool: in full, while the budget lasts, by search, or never from a script.',
});

const jsonSchema = z
  .record(z.string(), z.unknown())
  .meta({ description: 'JSON Schema 2020-12, at most 64 KiB, depth 32, 1,000 nodes.' });

const deliverySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('client') }),
  z.strictObject({
    kind: z.literal('http'),
    url: z.url({ protocol: /^https?$/ }).max(2_048),
    headers: z.record(z.string().max(256), z.string().max(8_192)).optional(),
    idempotent: z.boolean().optional(),
  }),
  z.strictObject({ kind: z.literal('builtin'), tool: z.string().min(1).max(128) }),
]);

/** One tool of a toolset (3. Tools, Registering). */
export const toolSpecSchema = z
  .strictObject({
    name: z.string().min(1).max(128).meta({ description: 'The raw name, 1-128 characters.' }),
    namespace: z.string().min(1).max(128).optional(),
    description: z.string().max(16_384),
    inputSchema: jsonSchema,
    outputSchema: jsonSchema.optional(),
    guidelines: z.array(z.string().max(2_048)).max(64).optional().meta({ description: 'Lines for the prompt.' }),
    exposure: exposureSchema,
    delivery: deliverySchema.optional().meta({ description: 'Who runs the tool. Required unless model-only.' }),
    timeoutMs: z.number().int().min(1).max(86_400_000).optional().meta({ description: 'Default 60,000.' }),
    approval: z.enum(['never', 'always']).optional(),
    sequential: z.boolean().optional().meta({ description: 'One call at a time, even under Promise.all.' }),
  })
  .refine((tool) => tool.exposure === 'model-only' || tool.delivery !== undefined, {
    path: ['delivery'],
    message: 'delivery is required unless the exposure is model-only',
  })
  .meta({ id: 'ToolSpec' });

/** `PUT /v1/toolsets/{name}`: makes a new immutable version. */
export const putToolsetSchema = z
  .strictObject({
    description: z.string().max(16_384).optional(),
    instructions: z.string().max(16_384).optional(),
    tools: z.array(toolSpecSchema).max(10_000),
  })
  .meta({ id: 'PutToolset' });

export const toolsetVersionSchema = z
  .object({
    name: toolsetNameSchema,
    version: z.number().int().meta({ description: '1, 2, 3, ... per toolset.' }),
    tools: z.array(
      z.object({
        tool: z.string().meta({ description: 'The raw name.' }),
        identifier: z.string().meta({ description: 'The name in scripts.' }),
      }),
    ),
  })
  .meta({ id: 'ToolsetVersion' });

/** `GET /v1/toolsets/{name}`: the newest version as it was put. */
export const toolsetSchema = putToolsetSchema
  .extend({ name: toolsetNameSchema, version: z.number().int() })
  .meta({ id: 'Toolset' });

export const toolsetListSchema = z
  .object({ toolsets: z.array(z.object({ name: toolsetNameSchema, version: z.number().int() })) })
  .meta({ id: 'ToolsetList' });

export type ToolSpec = z.infer<typeof toolSpecSchema>;
export type PutToolset = z.infer<typeof putToolsetSchema>;
export type ToolsetVersion = z.infer<typeof toolsetVersionSchema>;
