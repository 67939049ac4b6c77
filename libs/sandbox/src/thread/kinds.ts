/** Kinds of messages from the guest to its host; the same numbers stand in guest/intrinsics.js. */
export const KIND = {
  text: 1,
  console: 2,
  boundary: 3,
  timer: 4,
  untimer: 5,
  end: 6,
  isProxy: 7,
  /** Answered with the position of the tool of that name in the view. */
  tool: 8,
  /** Answered with the JSON of a text that says that there is no tool of that name. */
  missingTool: 9,
  /** Answered with the JSON of all identifiers. */
  toolNames: 10,
  /** Answered with the JSON of `ALL_TOOLS`. */
  allTools: 11,
  call: 12,
  /** Answered with the number of UTF-8 bytes. */
  bytes: 13,
  note: 14,
  /** Answered with the characters that were added, negative when they would be too many, or a text that says why not. */
  image: 15,
  audio: 16,
  /** JSON of a helper's name, the kinds of its arguments, and the arguments; answered with the JSON of an Answer. */
  inquiry: 17,
} as const;

/** Added to a kind when the payload is JSON of the text, because the text holds NUL or lone surrogates. */
export const AS_JSON = 64;

/** The host's answers to a text: no memory to copy it out; it holds NUL and must come as JSON; it is over a limit. */
export const ANSWER = { noMemory: 0, needsJson: 2, tooLong: 3, tooMany: 4 } as const;

/** What the host may ask of the guest; the same numbers stand in guest/main.js. */
export const OP = { begin: 0, run: 1, refuse: 2, timer: 3, stalled: 4, settle: 5, rejected: 6, handled: 7 } as const;
