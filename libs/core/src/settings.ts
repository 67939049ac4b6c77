/** Settings of a conversation. Each has a default of the deployment, which `PUT conversation` may change. */
export interface ConversationSettings {
  /** How long `exec` observes before it answers `running`, in ms (exec only; `wait` keeps its 10,000). */
  defaultExecYieldMs: number;
  /** Output budget of one answer, in estimated tokens. */
  maxOutputTokens: number;
  /** Budget of the declarations in the model's description, in estimated tokens. */
  inlineBudget: number;
  /** How the other tools are presented to the model. */
  mode: 'on' | 'only';
  /** Longest life of a cell, in ms, waiting included. */
  wallLimitMs: number;
  /** CPU time of a cell, in ms. */
  cpuLimitMs: number;
  /** CPU time of one stretch without a wait, in ms. */
  stretchCpuLimitMs: number;
  /** How long what has ended is kept, in ms. */
  retentionMs: number;
}

/** The defaults of the specification (4. API, Settings). */
export const defaultSettings: ConversationSettings = {
  defaultExecYieldMs: 10_000,
  maxOutputTokens: 10_000,
  inlineBudget: 3_000,
  mode: 'on',
  wallLimitMs: 3_600_000,
  cpuLimitMs: 60_000,
  stretchCpuLimitMs: 5_000,
  retentionMs: 86_400_000,
};

/** `wait` and the observation after tool results: fixed, whatever the settings say. */
export const waitDefaults = { yieldTimeMs: 10_000, maxTokens: 10_000 } as const;

/** The highest observation time that a script or a caller may ask for, in ms; more is lowered to it. */
export const MAX_YIELD_TIME_MS = 600_000;
