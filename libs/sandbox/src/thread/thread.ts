import { failureOf } from '../failures.js';
import type { FromThread, ScriptEnd, ThreadSetup, ToThread } from '../protocol.js';
import { OutputJournal } from '../journal.js';
import { ThreadCell } from './cell.js';
import { DamagedChangesError, putChanges, takeChanges } from './changes.js';
import { Guest, silentHost } from './guest.js';
import { BaseImage } from './image.js';
import { EngineAbortError } from './imports.js';
import { EngineInstance } from './instance.js';
import { collectGarbage } from './garbage.js';
import { checkRestore } from './self-check.js';
import { Outbox } from './outbox.js';
import { GuestShelf } from './shelf.js';

/** A thread without work for this long prepares a fresh guest: not at once, lest the next cell wait for it. */
const IDLE_MS = 20;

/**
 * Builds the base image, checks it, and says `ready` or `refused`. Undefined when the thread refuses to serve.
 */
export async function startThread(setup: ThreadSetup, post: Post): Promise<SandboxThread | undefined> {
  const engine = await EngineInstance.create(setup.module, silentHost);
  const first = Guest.build(engine, setup.prelude);
  const image = BaseImage.take(engine);
  if (image.version !== setup.imageVersion) {
    post({
      type: 'refused',
      reason: `the base image is ${image.version} and should be ${setup.imageVersion}; after a change of the engine or the prelude pin it anew with node libs/sandbox/pin-image.mjs`,
    });
    return undefined;
  }
  checkRestore(first, image);
  // Only the addresses: a reference to the first guest would keep its memory for ever.
  const { pointers } = first;
  const make = async (): Promise<Guest> => {
    const fresh = await EngineInstance.create(setup.module, silentHost);
    image.load(fresh);
    return new Guest(fresh, pointers);
  };
  const shelf = new GuestShelf(first, make);
  await shelf.prepare();
  post({ type: 'ready', imageVersion: image.version });
  return new SandboxThread(setup, image, shelf, post);
}

/** The cell on a thread. `dropAfter`: its memory came from outside, so nothing else may run in that instance. */
interface Current {
  cell: number;
  tenantId: string;
  run: ThreadCell;
  guest: Guest;
  dropAfter: boolean;
}

/** Sends a message to the main side, which gets the buffers of the list instead of copies. */
type Post = (message: FromThread, handedOver?: ArrayBuffer[]) => void;

/** One thread's side of the protocol: one cell at a time, a clean memory before each. */
export class SandboxThread {
  private current: Current | undefined;
  private readonly signals: Int32Array;
  private readonly journal: OutputJournal;
  /** Loaded beside the first cell's way to here: it takes as long as the rest of a thread's start. */
  private readonly views = import('./tool-view.js').then(({ ToolViews }) => new ToolViews());
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly setup: ThreadSetup,
    private readonly image: BaseImage,
    private readonly shelf: GuestShelf,
    private readonly post: Post,
  ) {
    this.signals = new Int32Array(setup.signals);
    this.journal = new OutputJournal(setup.journal);
  }

  /** Handles one message of the main side. */
  async receive(message: ToThread): Promise<void> {
    if (message.type === 'start') {
      if (this.current !== undefined) throw new EngineAbortError('a second cell on one thread');
      const run = await this.enter(message, false);
      if (run.start(message)) this.clean();
      return;
    }
    if (message.type === 'wake') {
      const run = await this.enter(message, message.isForeign);
      if (this.load(run, message) && run.resume(message)) this.clean();
      return;
    }
    const { current } = this;
    if (current === undefined || current.cell !== message.cell) return;
    if (message.type === 'hibernate') this.hibernate(current);
    else if (message.type === 'stop') {
      current.run.stop();
      this.clean();
    } else if (current.run.resume(message)) this.clean();
  }

  /** Takes a cell in: from here on its tenant's guest talks to it. */
  private async enter(message: Extract<ToThread, { tenantId: string }>, dropAfter: boolean): Promise<ThreadCell> {
    const { cell, tenantId } = message;
    if (this.current !== undefined) throw new EngineAbortError('a second cell on one thread');
    const view = (await this.views).get(message.view);
    const guest = await this.shelf.take(tenantId);
    const outbox = new Outbox(cell, this.journal, (told) => this.post(told));
    const run = new ThreadCell(message, guest, this.signals, outbox, view);
    guest.engine.attach(run);
    this.current = { cell, tenantId, run, guest, dropAfter };
    return run;
  }

  /** Gives a guest the memory that a script had. False when the bytes are damaged: then the script has ended. */
  private load(run: ThreadCell, { changes, state, cell }: Extract<ToThread, { type: 'wake' }>): boolean {
    const { current } = this;
    if (current === undefined) return false;
    try {
      putChanges(this.image, current.guest.engine, changes);
      run.restore(state);
      return true;
    } catch (error) {
      if (!(error instanceof DamagedChangesError)) throw error;
      const end: ScriptEnd = { kind: 'failed', frames: '', writes: [], warnings: [], ...failureOf('image') };
      this.post({ type: 'ended', cell, end, cpuMs: state.cpuMs, retire: null });
      this.clean();
      return false;
    }
  }

  /** Hands the memory of the waiting script over and forgets it. */
  private hibernate({ cell, run, guest }: Current): void {
    const changes = takeChanges(this.image, guest.engine);
    this.clean();
    this.post({ type: 'image', cell, changes, state: run.state }, [changes]);
  }

  /** After the end was told: the memory goes back to the base image, or away when it grew. */
  private clean(): void {
    const { current } = this;
    if (current === undefined) return;
    this.current = undefined;
    const { engine } = current.guest;
    engine.attach(silentHost);
    const tooLarge = current.dropAfter || this.image.isTooLarge(engine);
    if (!tooLarge || this.setup.verifyRestores) this.image.restore(engine);
    if (this.setup.verifyRestores) {
      const difference = this.image.firstDifference(engine);
      if (difference !== undefined) throw new EngineAbortError(`byte ${difference} is not restored`);
    }
    if (tooLarge) {
      this.shelf.drop(current.tenantId);
      // Not at once: the frames of this very call still hold the instance.
      setImmediate(collectGarbage);
    }
    clearTimeout(this.idleTimer);
    if (this.shelf.needsSpare()) this.idleTimer = setTimeout(() => void this.shelf.prepare(), IDLE_MS);
  }
}
