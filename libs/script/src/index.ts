export * from './call-result.js';
export * from './effective.js';
export * from './first-line.js';
export * from './format.js';
export * from './identifiers.js';
export * from './text-bytes.js';
