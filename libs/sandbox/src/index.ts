export * from './port.js';
export { createSandboxPool, type SandboxPoolOptions } from './pool.js';
