import { type BoundToolset, packView } from '#libs/script';

/** Runs in a thread of the pool. */
export default function run(toolsets: readonly BoundToolset[]): SharedArrayBuffer {
  return packView(toolsets);
}
