export * from './canonical-json.js';
export * from './script-view.js';
export * from './tool-views.js';
export * from './view-check.js';
export * from './view-document.js';
