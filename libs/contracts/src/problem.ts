import { z } from 'zod';
import { toolResultStatusSchema } from './call.js';

/** RFC 9457 problem document: the body of every error answer. */
export const problemSchema = z
  .object({
    type: z.string().meta({ description: 'A URI that names the kind of problem; ends in the code.' }),
    title: z.string().meta({ description: 'The kind of problem in words.' }),
    status: z.number().int().meta({ description: 'The HTTP status.' }),
    code: z.string().meta({ description: 'Stable code to branch on, see docs/errors.md.', example: 'cell_not_found' }),
    detail: z.string().meta({ description: 'What was wrong with this request, with the value, and what to do.' }),
    errors: z
      .array(
        z.object({
          pointer: z.string().meta({ description: 'RFC 6901 JSON pointer into the body.', example: '/toolsets/0' }),
          detail: z.string(),
        }),
      )
      .optional()
      .meta({ description: 'Each fault in the body.' }),
    results: z
      .array(toolResultStatusSchema)
      .optional()
      .meta({ description: 'tool-results: what came of each result, where only the observation failed.' }),
  })
  .meta({ id: 'Problem' });

export type Problem = z.infer<typeof problemSchema>;
