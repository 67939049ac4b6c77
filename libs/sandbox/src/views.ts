import { Buffer } from 'node:buffer';
import type { ProgramView } from './port.js';

/** A view on its way to threads. */
export interface SharedView {
  /** Tells views apart: equal ids mean the same view. */
  id: number;
  /** JSON of the tools in shared memory: handing it to a thread costs the same for any number of tools. */
  json: SharedArrayBuffer;
}

const shared = new WeakMap<ProgramView, SharedView>();
let lastId = 0;

/** The shared form of a view, made once per view object. */
export function shareView(view: ProgramView): SharedView {
  const known = shared.get(view);
  if (known !== undefined) return known;
  const json = JSON.stringify(view.tools);
  const memory = new SharedArrayBuffer(Buffer.byteLength(json));
  Buffer.from(memory).write(json);
  lastId += 1;
  const made = { id: lastId, json: memory };
  shared.set(view, made);
  return made;
}
