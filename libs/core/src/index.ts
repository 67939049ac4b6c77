export * from './api-key.js';
export * from './cell.js';
export * from './clock.js';
export * from './errors.js';
export * from './ids.js';
export * from './limits.js';
export * from './owner.js';
export * from './settings.js';
