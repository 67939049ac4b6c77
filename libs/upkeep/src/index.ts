export * from './reaper.js';
export * from './upkeep.js';
