import { z } from 'zod';

const ms = (max: number, description: string) => z.number().int().min(0).max(max).optional().meta({ description });
const positiveMs = (max: number, description: string) =>
  z.number().int().min(1).max(max).optional().meta({ description });

/** Settings of a conversation in `PUT conversation`: what is left out keeps its value. */
export const settingsSchema = z
  .strictObject({
    defaultExecYieldMs: ms(600_000, 'How long exec observes before it answers `running`, in ms. Default 10,000.'),
    maxOutputTokens: z
      .number()
      .int()
      .min(0)
      .max(10_000_000)
      .optional()
      .meta({ description: 'Output budget of one answer in estimated tokens; lowered to the server maximum.' }),
    inlineBudget: z
      .number()
      .int()
      .min(0)
      .max(1_000_000)
      .optional()
      .meta({ description: 'Budget of inline declarations in estimated tokens. Default 3,000.' }),
    mode: z.enum(['on', 'only']).optional().meta({ description: 'How other tools are presented to the model.' }),
    wallLimitMs: positiveMs(604_800_000, 'Longest life of a cell in ms. Default 3,600,000.'),
    cpuLimitMs: positiveMs(3_600_000, 'CPU time of one cell in ms. Default 60,000.'),
    stretchCpuLimitMs: positiveMs(60_000, 'CPU time of a cell without a wait in ms. Default 5,000.'),
    retentionMs: positiveMs(31_536_000_000, 'How long what has ended is kept, in ms. Default 86,400,000.'),
  })
  .meta({ id: 'Settings' });

/** All settings with the values in force. */
export const effectiveSettingsSchema = settingsSchema.required().meta({ id: 'EffectiveSettings' });
