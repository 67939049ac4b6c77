export { createOffload, type Offload, type OffloadOptions } from './offload.js';
export type { SchemaToCheck } from './schema-check.js';
