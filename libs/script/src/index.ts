export * from './effective.js';
export { estimateTokens, utf8Bytes } from './budget.js';
export * from './first-line.js';
export * from './format.js';
export * from './identifiers.js';
