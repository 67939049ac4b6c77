export * from './call-result.js';
export * from './effective.js';
export * from './first-line.js';
export * from './format.js';
export * from './identifiers.js';
export { toolDescription, type ToolText } from './declaration.js';
export { PackedView, type NamespaceText, type ToolName, type ToolRecord, type ViewNames } from './packed-view.js';
export { type BoundToolset, packView } from './view-content.js';
export * from './text-bytes.js';
