export * from './port.js';
export type { ScriptState } from './script-state.js';
export { createSandboxPool, type SandboxPoolOptions } from './pool.js';
export { ImageFileError, packImage, unpackImage } from './image-file.js';
