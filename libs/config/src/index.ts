export * from './config-error.js';
export * from './config.js';
export { deriveKey, type DerivedKeys, type KeyPurpose, type SecretKey, type SecretKeys } from './secret-keys.js';
export type { Environment } from './env.js';
export type { LogLevel } from './variables.js';
