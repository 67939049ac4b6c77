import type { SchemaToCheck } from './schema-check.js';

/** What a thread is given to check schemas. */
export interface SchemaTask {
  schemas: readonly SchemaToCheck[];
  /** One shared 32-bit cell: the index of the schema being checked, for when the thread has to be killed. */
  progress: Int32Array<SharedArrayBuffer>;
}

/** The value of `progress` before the thread has begun. */
export const NOT_BEGUN = -1;
