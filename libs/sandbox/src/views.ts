import type { ProgramView } from './port.js';

/** A view on its way to threads. */
export interface SharedView {
  /** Tells views apart: equal ids mean the same view. */
  id: number;
  /** The packed view: handing it to a thread costs the same for any number of tools. */
  memory: SharedArrayBuffer;
}

const shared = new WeakMap<ProgramView, SharedView>();
let lastId = 0;

/** The form of a view in which threads get it, with one id per view object. */
export function shareView(view: ProgramView): SharedView {
  const known = shared.get(view);
  if (known !== undefined) return known;
  lastId += 1;
  const made = { id: lastId, memory: view.memory };
  shared.set(view, made);
  return made;
}
