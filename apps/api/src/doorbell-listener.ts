import type { DoorbellListener } from '#libs/events';
import type { CellObserver } from './cells/cell-observer.js';
import type { CellStopper } from './cells/cell-stopper.js';

/** What a doorbell means for an API process: an observer has something to look at, or a guest has ended. */
export function doorbellListener(observer: CellObserver, stopper: CellStopper): DoorbellListener {
  return {
    ring: (bell) => {
      if (bell.kind === 'cell') observer.observations.ring(bell.token, bell.end);
      else if (bell.kind === 'stopped') stopper.confirmed(bell.cellId);
    },
    resubscribed: () => observer.observations.ringAll(),
  };
}
