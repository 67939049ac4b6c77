import type { JSContextPointer, JSRuntimePointer, JSValueConstPointer, JSValuePointer } from 'quickjs-emscripten';
import { EngineAbortError } from './imports.js';
import { EngineInstance, type EngineResult, type GuestHost } from './instance.js';
import { GUEST_STACK_BYTES, LAYOUT } from './layout.js';

/** Addresses of what the host uses in a guest. Equal in every instance, because the base image is. */
export interface GuestPointers {
  runtime: JSRuntimePointer;
  context: JSContextPointer;
  /** The host's own handle to its function: a guest that loses its reference must not silence later cells. */
  send: JSValuePointer;
  receive: JSValuePointer;
  /** Boxed numbers 0, 1, 2, ... for the operations of `receive`. */
  operations: readonly JSValuePointer[];
  /** Room for a few pointers. */
  scratch: number;
}

const OPERATIONS = 8;
/** Jobs run between two looks at the clock and the stop flag. */
const JOBS_PER_BATCH = 64;
const SCRATCH_BYTES = 64;
/** Where in it a rejection is handed over, which happens in the middle of other calls: the two values, the pointers. */
const REJECTION = { promise: 16, reason: 24, pointers: 32 };

/** A host for the time in which no cell runs: a fixed clock, no interrupts, and nothing may be sent. */
export const silentHost: GuestHost = {
  onSend: () => undefined,
  shouldInterrupt: () => false,
  clock: () => 1_000_000_000_000,
  exhausted: () => undefined,
  onRejection: () => undefined,
};

/** The engine in one instance with the prelude loaded: the two functions of the channel, and the job pump. */
export class Guest {
  constructor(
    readonly engine: EngineInstance,
    readonly pointers: GuestPointers,
  ) {}

  /** Builds runtime, context and prelude in a fresh instance. The base image is taken from the result. */
  static build(engine: EngineInstance, prelude: string): Guest {
    const runtime = engine.newRuntime(GUEST_STACK_BYTES);
    const context = engine.newContext(runtime);
    const scratch = engine.allocate(SCRATCH_BYTES);
    const send = engine.newHostFunction(context);
    const loaded = mustWork(engine.evaluate(context, Buffer.from(prelude, 'utf8'), 'cellar'), engine, context);
    const receive = mustWork(engine.call(context, loaded, scratch, [send]), engine, context);
    const operations: JSValuePointer[] = [];
    for (let i = 0; i < OPERATIONS; i += 1) operations.push(engine.ffi.QTS_NewFloat64(context, i));
    return new Guest(engine, { runtime, context, send, receive, operations, scratch });
  }

  /** Calls the prelude with an operation and its argument, which is freed. */
  receive(operation: number, argument: JSValuePointer): EngineResult {
    const { context, receive, scratch, operations } = this.pointers;
    const boxed = operations[operation];
    if (boxed === undefined) throw new EngineAbortError(`operation ${operation} is not known`);
    const result = this.engine.call(context, receive, scratch, [boxed, argument]);
    this.engine.ffi.QTS_FreeValuePointer(context, argument);
    if (result.ok) this.engine.ffi.QTS_FreeValuePointer(context, result.value);
    return result;
  }

  /** Gives the guest JSON. */
  receiveJson(operation: number, json: string): EngineResult {
    return this.receive(operation, this.engine.newString(this.pointers.context, json));
  }

  /** Gives the guest a text without NUL. Undefined when there is no memory left for it. */
  receiveText(operation: number, text: string): EngineResult | undefined {
    const value = this.engine.tryNewString(this.pointers.context, text);
    return value === undefined ? undefined : this.receive(operation, value);
  }

  /** Gives the guest a number. */
  receiveNumber(operation: number, value: number): EngineResult {
    return this.receive(operation, this.engine.ffi.QTS_NewFloat64(this.pointers.context, value));
  }

  /** Tells the prelude of a rejection. A failure is swallowed: it happens where nobody can take an error. */
  receiveRejection(operation: number, promise: bigint, reason: bigint): void {
    const { context, receive, scratch, operations } = this.pointers;
    const boxed = operations[operation];
    if (boxed === undefined) throw new EngineAbortError(`operation ${operation} is not known`);
    const { engine } = this;
    engine.bytes.writeBigInt64LE(promise, scratch + REJECTION.promise);
    engine.bytes.writeBigInt64LE(reason, scratch + REJECTION.reason);
    const values = [boxed, scratch + REJECTION.promise, scratch + REJECTION.reason] as JSValuePointer[];
    const result = engine.call(context, receive, scratch + REJECTION.pointers, values);
    engine.ffi.QTS_FreeValuePointer(context, result.ok ? result.value : result.error);
  }

  /** Compiles and runs a script's text. */
  evaluate(source: Uint8Array, filename: string): EngineResult {
    return this.engine.evaluate(this.pointers.context, source, filename);
  }

  /** Runs pending jobs until there are none, a job fails, or `goOn` says stop (asked before each batch). */
  pump(goOn: () => boolean): 'idle' | 'failed' | 'stopped' {
    const { ffi, words } = this.engine;
    const { runtime, context, scratch } = this.pointers;
    while (ffi.QTS_IsJobPending(runtime)) {
      if (!goOn()) return 'stopped';
      const done = ffi.QTS_ExecutePendingJob(runtime, JOBS_PER_BATCH, scratch as JSContextPointer);
      const contextUsed = (words[scratch / 4] ?? 0) as JSContextPointer;
      if (contextUsed !== 0) {
        const error = ffi.QTS_ResolveException(context, done);
        if (error !== 0) return 'failed';
      }
      ffi.QTS_FreeValuePointerRuntime(runtime, done);
    }
    return 'idle';
  }

  /** A message's text; see EngineInstance.textOf. */
  textOf(value: JSValueConstPointer, maxBytes: number): string | undefined {
    return this.engine.textOf(this.pointers.context, value, maxBytes);
  }

  /** The engine's own number for the kind of object, or 0 for anything else. Runs no code of the script. */
  classOf(value: JSValueConstPointer): number {
    const { words, memory } = this.engine;
    const OBJECT_TAG = -1;
    const tag = (words[value / 4 + 1] ?? 0) | 0;
    if (tag !== OBJECT_TAG) return 0;
    const object = words[value / 4] ?? 0;
    return new DataView(memory.buffer).getUint16(object + LAYOUT.classIdOffset, true);
  }

  /** A call failed: the thrown value as text, for errors of the host itself. */
  dump(error: JSValuePointer): string {
    return dumpValue(this.engine, this.pointers.context, error);
  }
}

function mustWork(result: EngineResult, engine: EngineInstance, context: JSContextPointer): JSValuePointer {
  if (result.ok) return result.value;
  throw new EngineAbortError(`the prelude failed: ${dumpValue(engine, context, result.error)}`);
}

function dumpValue(engine: EngineInstance, context: JSContextPointer, value: JSValuePointer): string {
  const address: number = engine.ffi.QTS_Dump(context, value);
  return engine.bytes.toString('utf8', address, engine.bytes.indexOf(0, address));
}
