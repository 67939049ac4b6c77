import type { CellResult, ObserveArguments, PostCodemode, PostExec, PostWait } from '#libs/contracts';
import {
  CellNotFoundError,
  type ConversationSettings,
  type Dialect,
  MemberRequiredError,
  NotFoundError,
  type Owner,
  PayloadTooLargeError,
  UnavailableError,
  defaultSettings,
  isCellId,
  limits,
  newCellId,
  waitDefaults,
  writerOf,
} from '#libs/core';
import type { Offload } from '#libs/offload';
import {
  type CellOptions,
  type ConversationRow,
  type Database,
  type NewCell,
  branchExists,
  insertCell,
  keepOutput,
  stopCell,
  viewCell,
} from '#libs/persistence';
import type { CellQueue } from '#libs/queue';
import {
  type Maxima,
  type Observation as HowToObserve,
  type StartObservation,
  effectiveCodemode,
  effectiveExec,
  effectiveWait,
  parseCodemodeSource,
  parseExecSource,
} from '#libs/script';
import type { Events } from '#libs/telemetry';
import type { ConversationResolver } from '../conversations/conversation-resolver.js';
import type { CellObserver, Observed } from './cell-observer.js';
import { formatInput, toCellResult } from './cell-result.js';
import type { CellStopper } from './cell-stopper.js';
import type { CollectedMarks } from './collected-marks.js';
import type { Observation } from './observations.js';

/** Whose request it is, and when its client goes away. */
export interface Caller {
  tenantId: string;
  conversationId: string;
  disconnected: AbortSignal;
}

/** An answer and what to do once it has been written out, or could not be. */
export interface Answer {
  result: CellResult;
  written: (flushed: boolean) => Promise<void>;
}

/** What the cells of this process work with. */
export interface CellsParts {
  db: Database;
  events: Events;
  queue: CellQueue;
  observer: CellObserver;
  stopper: CellStopper;
  marks: CollectedMarks;
  conversations: ConversationResolver;
  offload: Offload;
  maxima: Maxima;
}

interface Script {
  dialect: Dialect;
  script: string;
  how: StartObservation;
}

/** Starts cells and observes them. */
export class CellsService {
  constructor(private readonly parts: CellsParts) {}

  exec(caller: Caller, body: PostExec): Promise<Answer> {
    return this.#start(caller, body, (settings) => {
      checkSize(body.source);
      const { script, options } = parseExecSource(body.source);
      return { dialect: 'exec', script, how: effectiveExec(options, settings, this.parts.maxima) };
    });
  }

  codemode(caller: Caller, body: PostCodemode): Promise<Answer> {
    return this.#start(caller, body, (settings) => {
      checkSize(body.code);
      const { script, options } = parseCodemodeSource(body.code);
      return { dialect: 'codemode', script, how: effectiveCodemode(options, settings, this.parts.maxima) };
    });
  }

  async wait(caller: Caller, body: PostWait): Promise<Answer> {
    const cellId = body.cell_id;
    const owner = await this.#ownerOfCells(caller, body.memberId);
    if (!isCellId(cellId)) throw new CellNotFoundError();
    if (body.terminate === true) {
      const answer = await this.#terminate(owner, cellId, body, caller);
      if (answer) return answer;
    }
    return this.#observeFurther(owner, body, caller);
  }

  /** Observes a cell that there is already, as `wait` does. */
  observe(caller: Caller, owner: Owner, args: ObserveArguments): Promise<Answer> {
    if (!isCellId(args.cell_id)) return Promise.reject(new CellNotFoundError());
    return this.#observeFurther(owner, args, caller);
  }

  #observeFurther(owner: Owner, args: ObserveArguments, caller: Caller): Promise<Answer> {
    const { observer, marks, maxima } = this.parts;
    const how = effectiveWait(waitArguments(args), waitDefaults, maxima);
    return this.#observing(args.cell_id, async (observation) => {
      await marks.written(args.cell_id);
      await observer.take(owner, observation, how.yieldTimeMs);
      const observed = await observer.observe(owner, observation, how.yieldTimeMs, caller.disconnected);
      return { observed, how: forDialect(how, args, observed) };
    });
  }

  #start(caller: Caller, body: PostExec | PostCodemode, parse: (s: ConversationSettings) => Script): Promise<Answer> {
    const { db, events, observer, queue } = this.parts;
    const cellId = newCellId();
    return this.#observing(cellId, async (observation) => {
      const { owner, script } = await this.#insert(caller, body, parse, cellId, observation);
      try {
        await queue.add({ cellId, stretch: 1 });
      } catch (error) {
        // Nothing was accepted: the cell must not run later, when its caller has been told to try again.
        await stopCell(db, owner, cellId).catch(() => undefined);
        throw error;
      }
      const { tenantId, conversationId } = owner;
      events.cellAccepted({ cellId, tenantId, conversationId, dialect: script.dialect });
      const { how } = script;
      return { observed: await observer.observe(owner, observation, how.yieldTimeMs, caller.disconnected), how };
    });
  }

  /** Inserts under the conversation as it is; when it has changed since it was cached, resolves it anew, once. */
  async #insert(
    caller: Caller,
    body: PostExec | PostCodemode,
    parse: (settings: ConversationSettings) => Script,
    cellId: string,
    observation: Observation,
  ): Promise<{ owner: Owner; script: Script }> {
    const { db, conversations } = this.parts;
    const branchId = body.branchId ?? 'main';
    for (let attempt = 0; attempt < 3; attempt++) {
      const conversation = await conversations.resolve(caller.tenantId, caller.conversationId);
      const owner = ownerIn(conversation, body.memberId);
      const settings = { ...defaultSettings, ...conversation.settings };
      const script = parse(settings);
      const cell: NewCell = {
        cellId,
        owner,
        conversationVersion: conversation.version,
        memberId: body.memberId,
        branchId,
        dialect: script.dialect,
        source: script.script,
        options: optionsOf(script, settings),
        observer: observation.observer,
        yieldInMs: script.how.yieldTimeMs,
        deadlineInMs: script.how.timeoutMs,
      };
      if (await insertCell(db, cell)) return { owner, script };
      conversations.forget(caller);
      if (!(await branchExists(db, caller, conversation.epoch, branchId)) && attempt > 0) {
        throw new NotFoundError(`There is no branch ${branchId} in this conversation: fork it first.`);
      }
    }
    throw new UnavailableError('The conversation, which is being changed,');
  }

  /**
   * Stops a cell. Undefined when there is nothing to stop: it has ended, or there is no such cell. The caller gets the
   * output only when nobody else is observing.
   */
  async #terminate(owner: Owner, cellId: string, body: PostWait, caller: Caller): Promise<Answer | undefined> {
    const { db, observer, stopper } = this.parts;
    const stopped = await stopCell(db, owner, cellId);
    if (!stopped) return undefined;
    await stopper.tell([stopped]);
    const how = effectiveWait(waitArguments(body), waitDefaults, this.parts.maxima);
    if (stopped.observer === null) {
      return this.#observing(cellId, async (observation) => {
        await observer.take(owner, observation, how.yieldTimeMs);
        const observed = await observer.observe(owner, observation, how.yieldTimeMs, caller.disconnected);
        return { observed, how };
      });
    }
    // Whoever observes may have collected the end by now.
    const view = await viewCell(db, owner, cellId, { evenClosed: true });
    if (!view) throw new CellNotFoundError();
    const calls = await observer.callsOf(view);
    const observed: Observed = { view: { ...view, items: [] }, verdict: { state: 'terminated', items: 0 }, calls };
    const formatted = await this.parts.offload.formatResult(formatInput(observed, how.maxTokens));
    return { result: toCellResult(observed, formatted, how.effective), written: () => Promise.resolve() };
  }

  /** Makes the answer of an observation. The place is kept, and its lease renewed, until the answer is written out. */
  async #observing(
    cellId: string,
    begin: (observation: Observation) => Promise<{ observed: Observed; how: HowToObserve }>,
  ): Promise<Answer> {
    const { observer, offload } = this.parts;
    const observation = observer.observations.begin(cellId);
    try {
      const { observed, how } = await begin(observation);
      const formatted = await offload.formatResult(formatInput(observed, how.maxTokens));
      // What was cut is kept whole before anybody is told where.
      if (formatted.fullText) await keepOutput(this.parts.db, observed.view, formatted.fullText);
      const result = toCellResult(observed, formatted, how.effective);
      return { result, written: (flushed) => this.#written(observation, observed, flushed) };
    } catch (error) {
      observer.leave(observation);
      throw error;
    }
  }

  async #written(observation: Observation, { view, verdict, calls }: Observed, flushed: boolean): Promise<void> {
    const { events, marks, observer } = this.parts;
    if (!flushed) return observer.leave(observation);
    const { cellId, observer: token } = observation;
    const upTo = view.collected + verdict.items;
    const final = verdict.state !== 'running';
    const told = final ? [] : calls.open.map((call) => call.callId);
    await marks.add({ cellId, observer: token, since: view.collected, upTo, final, calls: told });
    observation[Symbol.dispose]();
    events.cellCollected({ cellId, tenantId: view.tenantId, state: verdict.state, items: verdict.items });
  }

  /** For a cell, a conversation that does not exist is a cell that does not exist. */
  async #ownerOfCells({ tenantId, conversationId }: Caller, memberId: string | undefined): Promise<Owner> {
    try {
      return ownerIn(await this.parts.conversations.current(tenantId, conversationId), memberId);
    } catch (error) {
      throw error instanceof NotFoundError ? new CellNotFoundError() : error;
    }
  }
}

/** The owner of a member's cells. Throws MemberRequiredError in a room without a member. */
export function ownerIn(conversation: ConversationRow, memberId: string | undefined): Owner {
  const { tenantId, conversationId, epoch, kind } = conversation;
  const writer = writerOf(kind, memberId);
  if (writer === undefined) throw new MemberRequiredError(conversationId);
  return { tenantId, conversationId, epoch, writer };
}

function checkSize(source: string): void {
  const bytes = Buffer.byteLength(source);
  if (bytes <= limits.sourceBytes) return;
  throw new PayloadTooLargeError(`The script has ${bytes} bytes, the limit is ${limits.sourceBytes}. Split it up.`);
}

function optionsOf({ how }: Script, settings: ConversationSettings): CellOptions {
  return {
    maxOutputTokens: how.maxTokens,
    effective: how.effective,
    limits: {
      cpuMs: settings.cpuLimitMs,
      stretchCpuMs: settings.stretchCpuLimitMs,
      wallMs: settings.wallLimitMs,
    },
  };
}

function waitArguments(body: ObserveArguments): { yieldTimeMs?: number | null; maxTokens?: number | null } {
  return { yieldTimeMs: body.yield_time_ms, maxTokens: body.max_tokens };
}

/** codemode: without `max_tokens`, the script's own budget holds for later answers too. */
function forDialect(how: HowToObserve, body: ObserveArguments, { view }: Observed): HowToObserve {
  if (view.dialect === 'exec' || typeof body.max_tokens === 'number') return how;
  const maxTokens = view.maxOutputTokens;
  return { ...how, maxTokens, effective: { ...how.effective, max_tokens: maxTokens } };
}
