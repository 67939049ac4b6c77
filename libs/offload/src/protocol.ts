import type { SchemaToCheck } from './schema-check.js';

/** What a thread is given to check schemas. */
export interface SchemaTask {
  schemas: readonly SchemaToCheck[];
  /** One shared 32-bit cell: the index of the schema being checked, for when the thread has to be killed. */
  progress: Int32Array<SharedArrayBuffer>;
}

/** The value of `progress` before the thread has begun. */
export const NOT_BEGUN = -1;

/** What a thread is given to check one value against one schema, both as JSON texts. */
export type InstanceTask = {
  value: string;
  /** One shared 32-bit cell: how far the thread is, for when it has to be killed. */
  progress: Int32Array<SharedArrayBuffer>;
} & (
  | { kind: 'arguments'; schema: string }
  /** What a call's owner posted, and the tool's output schema if it has one. */
  | { kind: 'result'; identifier: string; schema: string | undefined }
);

/** Values of `progress` of an instance, from {@link NOT_BEGUN} on. */
export const PHASE = { compiling: 0, checking: 1 } as const;
