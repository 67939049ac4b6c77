export * from './cell-queue.js';
export * from './queue.module.js';
