import type { FromThread, ThreadSetup, ToThread } from '../protocol.js';
import { OutputJournal } from '../journal.js';
import { ThreadCell } from './cell.js';
import { Guest, silentHost } from './guest.js';
import { BaseImage } from './image.js';
import { EngineAbortError } from './imports.js';
import { EngineInstance } from './instance.js';
import { collectGarbage } from './garbage.js';
import { checkRestore } from './self-check.js';
import { Outbox } from './outbox.js';
import { GuestShelf } from './shelf.js';
import { ToolViews } from './tool-view.js';

/** A thread without work for this long prepares a fresh guest: not at once, lest the next cell wait for it. */
const IDLE_MS = 20;

/**
 * Builds the base image, checks it, and says `ready` or `refused`. Undefined when the thread refuses to serve.
 */
export async function startThread(
  setup: ThreadSetup,
  post: (message: FromThread) => void,
): Promise<SandboxThread | undefined> {
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

/** One thread's side of the protocol: one cell at a time, a clean memory before each. */
export class SandboxThread {
  private current: { cell: number; tenantId: string; run: ThreadCell; guest: Guest } | undefined;
  private readonly signals: Int32Array;
  private readonly journal: OutputJournal;
  private readonly views = new ToolViews();
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly setup: ThreadSetup,
    private readonly image: BaseImage,
    private readonly shelf: GuestShelf,
    private readonly post: (message: FromThread) => void,
  ) {
    this.signals = new Int32Array(setup.signals);
    this.journal = new OutputJournal(setup.journal);
  }

  /** Handles one message of the main side. */
  async receive(message: ToThread): Promise<void> {
    if (message.type === 'start') {
      if (this.current !== undefined) throw new EngineAbortError('a second cell on one thread');
      const guest = await this.shelf.take(message.tenantId);
      const outbox = new Outbox(message.cell, this.journal, this.post);
      const run = new ThreadCell(message, guest, this.signals, outbox, this.views.get(message.view));
      guest.engine.attach(run);
      this.current = { cell: message.cell, tenantId: message.tenantId, run, guest };
      if (run.start()) this.clean();
      return;
    }
    const { current } = this;
    if (current === undefined || current.cell !== message.cell) return;
    if (message.type === 'stop') {
      current.run.stop();
      this.clean();
    } else if (current.run.resume(message)) this.clean();
  }

  /** After the end was told: the memory goes back to the base image, or away when it grew. */
  private clean(): void {
    const { current } = this;
    if (current === undefined) return;
    this.current = undefined;
    const { engine } = current.guest;
    engine.attach(silentHost);
    const tooLarge = this.image.isTooLarge(engine);
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
