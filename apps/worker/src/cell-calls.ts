import { newCallId } from '#libs/core';
import type { Offload } from '#libs/offload';
import {
  type Database,
  type EndedCall,
  type NewCall,
  type StretchRef,
  askForCalls,
  expireCalls,
  insertCalls,
} from '#libs/persistence';
import type { CallResult, ProgramCall } from '#libs/sandbox';
import type { Events } from '#libs/telemetry';
import type { ScriptTool, ScriptView } from '#libs/tools';

/** What a tool's call may take when the tool does not say, in ms. */
const TIMEOUT_MS = 60_000;
/** The database's clock decides when the time of a call is up: this process looks a little later, in ms. */
const LOOK_LATER_MS = 20;
/** Between two attempts to expire a call, in ms. */
const EXPIRE_AGAIN_MS = 1_000;

/** What the calls of a cell work with. */
export interface CellCallsParts {
  db: Database;
  offload: Offload;
  events: Events;
  ref: StretchRef;
  view: ScriptView | undefined;
  /** Tries a write again for as long as Postgres is away; undefined: given up, this worker counts as lost. */
  persist: <Result>(write: () => Promise<Result>) => Promise<Result | undefined>;
  /** Resolves when an effect may start: this worker's heartbeat is fresh, or it counts as lost. */
  mayAct: () => Promise<void>;
  /** Gives the script what a call came to. */
  settle: (number: number, result: CallResult) => void;
  /** Puts output where the observer can read it, before the calls that came after it. */
  spill: () => Promise<void>;
  /** Calls are on disk: the observer may be told. */
  made: (observer: string | null) => void;
  /** Whether the script has ended: its calls were made, and nobody needs to run them. */
  ended: () => boolean;
  /** The cell no longer runs here. */
  lost: () => void;
  /** Reads the ends of these calls and hands them to {@link CellCalls.end}. */
  look: () => void;
}

interface OpenCall {
  number: number;
  tool: ScriptTool;
  expiry: NodeJS.Timeout;
}

/**
 * The tool calls of one running cell: looked up, checked, written behind the fence, and settled when their rows have
 * ended. Calls that come while a statement is under way share the next one.
 */
export class CellCalls implements Disposable {
  readonly #parts: CellCallsParts;
  readonly #open = new Map<string, OpenCall>();
  /** Sequential tools that have a call under way, and the calls that wait for its end. */
  readonly #sequential = new Map<string, ProgramCall[]>();
  readonly #beginning = new Set<Promise<void>>();
  #unwritten: { call: NewCall; tool: ScriptTool }[] = [];
  #writing: Promise<void> | undefined;
  #anyMade = false;
  /** Whether the script has nothing to run but what its calls come to: only then an answer asks for their results. */
  #isIdle = false;
  /** Whether there are calls that no answer asks for, because the script was busy when they were made. */
  #unasked = false;
  /** Calls whose arguments are being checked: an answer that asks for some of a fan-out would cost a round more. */
  #checking = 0;
  #disposed = false;

  constructor(parts: CellCallsParts) {
    this.#parts = parts;
  }

  /** Whether the row of any call was written. */
  get anyMade(): boolean {
    return this.#anyMade;
  }

  /** Ids of the calls whose ends the script waits for. */
  get openIds(): string[] {
    return [...this.#open.keys()];
  }

  /** The script calls a tool. */
  begin(call: ProgramCall): void {
    this.#isIdle = false;
    const tool = this.#parts.view?.find(call.identifier);
    const refusal = tool ? refusalOf(tool) : `tools.${call.identifier} does not exist.`;
    if (!tool || refusal !== undefined) return this.#reject(call.callId, refusal ?? '');
    if (tool.sequential === true) {
      const waiting = this.#sequential.get(tool.identifier);
      if (waiting) return void waiting.push(call);
      this.#sequential.set(tool.identifier, []);
    }
    this.#track(this.#check(call, tool));
  }

  /** A call's row has ended. */
  end(ended: EndedCall): void {
    const open = this.#open.get(ended.callId);
    if (!open) return;
    this.#open.delete(ended.callId);
    clearTimeout(open.expiry);
    this.#track(this.#resolve(open, ended));
  }

  /** The script has nothing to run: answers are to ask for the results of its calls. */
  idle(): void {
    this.#isIdle = true;
    if (this.#unasked && this.#writing === undefined && this.#checking === 0) this.#track(this.#ask());
  }

  /** Resolves when every call that the script made has been refused or written: after its end, before that is committed. */
  async drained(): Promise<void> {
    while (this.#beginning.size > 0) await Promise.all(this.#beginning);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const { expiry } of this.#open.values()) clearTimeout(expiry);
    this.#open.clear();
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#beginning.delete(tracked));
    this.#beginning.add(tracked);
  }

  async #check(call: ProgramCall, tool: ScriptTool): Promise<void> {
    const { offload, events, ref } = this.#parts;
    try {
      this.#checking += 1;
      const fault = await offload
        .checkArguments(tool.inputSchemaText, call.argumentsJson)
        .finally(() => (this.#checking -= 1));
      if (fault !== undefined) {
        return this.#refuse(call, tool, `tools.${tool.identifier} was not called, its arguments are wrong: ${fault}`);
      }
      this.#unwritten.push({ call: toNewCall(call, tool), tool });
      this.#writing ??= this.#write();
      await this.#writing;
    } catch (cause) {
      events.faulted('a tool call was not made', cause, { cellId: ref.cellId });
      this.#refuse(call, tool, `tools.${tool.identifier} could not be called just now; it was not called.`);
    }
  }

  async #write(): Promise<void> {
    // What else the script called in the same turn is checked by now, or joins the next statement.
    await new Promise<void>((resolve) => setImmediate(resolve));
    try {
      // A call that comes while answers are asked for waits for this writing as well.
      do {
        while (this.#unwritten.length > 0) await this.#writeBatch();
        if (this.#unasked && this.#isIdle && this.#checking === 0) await this.#ask();
      } while (this.#unwritten.length > 0);
    } finally {
      // Whoever is left waits for this writing, and is refused with it.
      this.#unwritten = [];
      this.#writing = undefined;
    }
  }

  async #writeBatch(): Promise<void> {
    const { db, ref, persist, mayAct, spill, made, ended, lost } = this.#parts;
    if (!ended()) await spill();
    const told = ended();
    const asked = this.#isIdle && this.#checking === 0;
    const batch = this.#unwritten;
    this.#unwritten = [];
    const calls = batch.map(({ call }) => call);
    const row = await persist(async () => {
      await mayAct();
      return insertCalls(db, ref, calls, { told, asked });
    });
    if (!row) return lost();
    this.#anyMade = true;
    for (const { call, tool } of batch) this.#await(call, tool);
    if (told || ended()) return;
    if (asked) made(row.observer);
    else this.#unasked = true;
  }

  /** Asks for the results of the calls that the script made while it was busy. */
  async #ask(): Promise<void> {
    const { db, ref, spill, made, ended, lost, events } = this.#parts;
    if (ended()) return;
    this.#unasked = false;
    try {
      await spill();
      const row = await askForCalls(db, ref);
      if (ended()) return;
      if (row) made(row.observer);
      else lost();
    } catch (cause) {
      this.#unasked = true;
      events.faulted('an answer was not asked for the results of calls; its time ends it', cause, {
        cellId: ref.cellId,
      });
    }
  }

  #await({ callId, number, timeoutMs }: NewCall, tool: ScriptTool): void {
    if (this.#disposed) return;
    const expiry = setTimeout(() => this.#expire(callId), timeoutMs + LOOK_LATER_MS);
    this.#open.set(callId, { number, tool, expiry });
  }

  #expire(callId: string): void {
    const { db, ref, look, events } = this.#parts;
    const open = this.#open.get(callId);
    if (!open) return;
    // Again until its end was read: Postgres may be away, or its clock have been set back.
    open.expiry = setTimeout(() => this.#expire(callId), EXPIRE_AGAIN_MS);
    expireCalls(db, ref)
      .then(look)
      .catch((cause: unknown) => {
        events.faulted('calls did not expire; it is tried again', cause, { cellId: ref.cellId });
      });
  }

  async #resolve({ number, tool }: OpenCall, { state, result }: EndedCall): Promise<void> {
    const { offload, events, ref } = this.#parts;
    const { identifier, outputSchemaText: outputSchema, timeoutMs = TIMEOUT_MS } = tool;
    const late = `tools.${identifier} was not answered within ${timeoutMs} ms. Whether it took effect is not known.`;
    try {
      if (state === 'expired' || result === null) this.#settle(number, { ok: false, message: late });
      else this.#settle(number, await offload.callValue({ identifier, outputSchema, result }));
    } catch (cause) {
      events.faulted('the result of a tool call was not read', cause, { cellId: ref.cellId });
      this.#settle(number, { ok: false, message: `The result of tools.${identifier} could not be read.` });
    }
    this.#next(tool);
  }

  #refuse(call: ProgramCall, tool: ScriptTool, message: string): void {
    this.#reject(call.callId, message);
    this.#next(tool);
  }

  #reject(number: number, message: string): void {
    this.#settle(number, { ok: false, message });
  }

  #settle(number: number, result: CallResult): void {
    this.#isIdle = false;
    this.#parts.settle(number, result);
  }

  /** Lets the next call of a sequential tool begin. */
  #next(tool: ScriptTool): void {
    if (tool.sequential !== true || this.#disposed) return;
    const call = this.#sequential.get(tool.identifier)?.shift();
    if (call) this.#track(this.#check(call, tool));
    else this.#sequential.delete(tool.identifier);
  }
}

/** Why a tool of the view cannot be called; undefined: it can. */
function refusalOf({ identifier, delivery, approval }: ScriptTool): string | undefined {
  if (delivery.kind !== 'client')
    return `tools.${identifier} is delivered by ${delivery.kind}, which is not available yet.`;
  if (approval === 'always') return `tools.${identifier} needs an approval for each call, which is not available yet.`;
  return undefined;
}

function toNewCall(call: ProgramCall, tool: ScriptTool): NewCall {
  const { name, namespace, toolset, identifier, timeoutMs = TIMEOUT_MS } = tool;
  return {
    callId: newCallId(),
    number: call.callId,
    tool: name,
    namespace,
    toolset,
    identifier,
    arguments: call.argumentsJson,
    timeoutMs,
  };
}
