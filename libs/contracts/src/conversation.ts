import { z } from 'zod';
import { branchIdSchema, conversationIdSchema, memberIdSchema, toolsetNameSchema } from './names.js';
import { effectiveSettingsSchema, settingsSchema } from './settings.js';
import { exposureSchema } from './toolset.js';

export const conversationKindSchema = z.enum(['direct', 'room']).meta({
  id: 'ConversationKind',
  description: '`direct`: the conversation itself is the writer. `room`: each member owns their own cells and values.',
});

const bindingSchema = z
  .strictObject({
    toolset: toolsetNameSchema,
    memberIds: z.array(memberIdSchema).max(10_000).optional().meta({ description: 'Left out: for everyone.' }),
    exposure: exposureSchema.optional().meta({ description: 'Overrides the exposure of the whole toolset.' }),
  })
  .meta({ id: 'ToolsetBinding' });

/** `PUT /v1/conversations/{c}`: fields left out keep their value. */
export const putConversationSchema = z
  .strictObject({
    kind: conversationKindSchema,
    model: z.string().min(1).max(256).nullable().optional().meta({
      description: 'The model in use. Another one starts a new epoch.',
    }),
    toolsets: z.array(bindingSchema).max(256).optional(),
    settings: settingsSchema.optional(),
  })
  .meta({ id: 'PutConversation' });

export const conversationSchema = z
  .object({
    conversationId: conversationIdSchema,
    kind: conversationKindSchema,
    model: z.string().nullable(),
    epoch: z
      .number()
      .int()
      .meta({ description: 'Grows when the conversation is reset, switches model or is recreated.' }),
    toolsets: z.array(bindingSchema),
    settings: effectiveSettingsSchema,
  })
  .meta({ id: 'Conversation' });

/** `POST /v1/conversations/{c}/branches`: fork. From `main` at its head by default. */
export const postBranchSchema = z
  .strictObject({
    branchId: branchIdSchema,
    from: z
      .strictObject({
        branchId: branchIdSchema,
        sequence: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().meta({
          description: 'Values up to this sequence are seen. Left out: all there are now.',
        }),
      })
      .optional(),
  })
  .meta({ id: 'PostBranch' });

export const branchSchema = z
  .object({
    branchId: branchIdSchema,
    parentId: branchIdSchema,
    forkedAt: z.number().int().meta({ description: 'The sequence up to which the branch sees its parent.' }),
  })
  .meta({ id: 'Branch' });

export type PutConversation = z.infer<typeof putConversationSchema>;
export type ToolsetBinding = z.infer<typeof bindingSchema>;
export type Conversation = z.infer<typeof conversationSchema>;
export type PostBranch = z.infer<typeof postBranchSchema>;
export type Branch = z.infer<typeof branchSchema>;
