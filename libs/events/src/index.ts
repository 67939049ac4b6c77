export * from './doorbells.js';
