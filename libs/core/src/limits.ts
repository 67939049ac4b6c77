/** Limits that a deployment cannot change (spec: scripts, values, API). Sizes of text are in UTF-16 code units. */
export const limits = {
  /** UTF-8 bytes of one script. */
  sourceBytes: 262_144,
  /** Output of one cell, console included. */
  outputChars: 16_777_216,
  outputItems: 100_000,
  /** An error's text. */
  errorBytes: 16_384,
  /** JSON of the arguments of one tool call. */
  argumentBytes: 1_048_576,
  /** Tool calls of one cell that are under way at a time; further ones wait inside the script. */
  callsUnderWay: 32,
  /** Tool calls of one cell. */
  callsPerCell: 10_000,
  /** JSON that one tool call resolves to. */
  callResultChars: 16_777_216,
  /** JSON of what a script gives `searchTools`, `models` and their like. */
  inquiryChars: 16_777_216,
  /** What `searchTools` is asked for. */
  searchQueryChars: 1_000,
  /** UTF-8 bytes of one note. */
  noteBytes: 16_384,
  /** Notes of one cell, and their UTF-8 bytes together. */
  notes: 1_000,
  notesBytes: 1_048_576,
  /** Warnings about unhandled rejections of one cell. */
  warnings: 16,
  /** JSON of one saved value. */
  valueChars: 262_144,
  /** All values of one writer on one path, keys included. */
  valuesChars: 1_048_576,
  valueKeyChars: 512,
  /** Timers of one cell that have not run yet. */
  pendingTimers: 1_000,
  /** Different images of one cell: each is kept as an artifact. */
  imagesPerCell: 100,
  /** One HTTP body. */
  bodyBytes: 8_388_608,
  /** A queued cell that no worker takes ends as `no_worker` after this. */
  queuedMs: 60_000,
  /** A worker whose heartbeat stands still this long is lost. */
  workerLostMs: 10_000,
  /** The observer's place is free this long after its last sign of life. */
  observerLeaseMs: 5_000,
  /** A JSON Schema of a tool. */
  schemaBytes: 65_536,
  schemaDepth: 32,
  schemaNodes: 1_000,
  /** Depth of forks. */
  branchDepth: 1_000,
  /** Memory of one script: pages of 64 KiB. */
  memoryPages: 4_096,
} as const;
