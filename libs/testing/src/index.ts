export * from './client.js';
export * from './cluster.js';
export * from './database.js';
export * from './eventually.js';
export * from './platform.js';
export * from './redis.js';
