import { z } from 'zod';

/** Data of a BullMQ job: ids only. The job's own id is `{cellId}-{stretch}`. */
export const cellJobSchema = z.strictObject({
  cellId: z.string(),
  stretch: z.number().int().min(1),
});
export type CellJob = z.infer<typeof cellJobSchema>;
