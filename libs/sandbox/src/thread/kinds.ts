/** Kinds of messages from the guest to its host; the same numbers stand in guest/intrinsics.js. */
export const KIND = { text: 1, console: 2, boundary: 3, timer: 4, untimer: 5, end: 6, isProxy: 7 } as const;

/** Added to a kind when the payload is JSON of the text, because the text holds NUL or lone surrogates. */
export const AS_JSON = 64;

/** The host's answers to a text: no memory to copy it out; it holds NUL and must come as JSON. */
export const ANSWER = { noMemory: 0, needsJson: 2 } as const;

/** What the host may ask of the guest; the same numbers stand in guest/main.js. */
export const OP = { begin: 0, run: 1, refuse: 2, timer: 3, stalled: 4 } as const;
