import { Buffer } from 'node:buffer';
import {
  RELEASE_SYNC,
  type EvalDetectModule,
  type EvalFlags,
  type HostRefId,
  type IntrinsicsFlags,
  type JSContextPointer,
  type JSRuntimePointer,
  type JSValueConstPointer,
  type JSValueConstPointerPointer,
  type JSValuePointer,
  type BorrowedHeapCharPointer,
} from 'quickjs-emscripten';
import { limits } from '#libs/core';
import { deterministicImports, EngineAbortError } from './imports.js';
import { LAYOUT } from './layout.js';
import { addRejectionHook } from './rejection-hook.js';
import '../webassembly.js';

type Ffi = InstanceType<Awaited<ReturnType<typeof RELEASE_SYNC.importFFI>>>;
type Allocate = { _malloc(size: number): number; _free(address: number): void };

/** Whom an instance's guest talks to: the cell that runs, or nobody. */
export interface GuestHost {
  /**
   * A message of the prelude. `payload` points at the value, `chars` is the length of a text. A number or a text
   * without NUL goes back.
   */
  onSend(kind: number, payload: JSValueConstPointer, chars: number): number | string | undefined;
  /** Asked by the engine every few thousand steps; true throws what no script can catch. */
  shouldInterrupt(): boolean;
  clock(): number;
  exhausted(): void;
  /** A promise was rejected without a handler, or (`handled`) got one after that. Both are the engine's own words. */
  onRejection(promise: bigint, reason: bigint, handled: boolean): void;
}

/** The outcome of one call into the engine. */
export type EngineResult = { ok: true; value: JSValuePointer } | { ok: false; error: JSValuePointer };

/**
 * One WebAssembly instance of the engine with its own memory of fixed size (no growth, so views stay valid and the
 * end of memory is a clean error). It works on raw pointers: the package's object layer would keep handles that
 * outlive a restored memory (spec: protocols, rule 3).
 */
export class EngineInstance {
  readonly bytes: Buffer;
  readonly words: Uint32Array;

  private constructor(
    readonly memory: WebAssembly.Memory,
    readonly ffi: Ffi,
    private readonly allocator: Allocate,
    private readonly stackPointer: () => number,
    /** Where the hook for rejected promises stands in the table. */
    private readonly rejectionHook: number,
    /** Who is asked and told. Replaced for each cell. */
    private readonly link: { host: GuestHost },
  ) {
    this.bytes = Buffer.from(memory.buffer);
    this.words = new Uint32Array(memory.buffer);
  }

  /** A new instance; its memory is the engine's own initial state. Takes about a millisecond. */
  static async create(module: WebAssembly.Module, host: GuestHost): Promise<EngineInstance> {
    const [load, FfiType] = await Promise.all([RELEASE_SYNC.importModuleLoader(), RELEASE_SYNC.importFFI()]);
    const memory = new WebAssembly.Memory({ initial: limits.memoryPages, maximum: limits.memoryPages });
    const link = { host };
    let stackPointer: (() => number) | undefined;
    let rejectionHook: number | undefined;
    const loader = load as unknown as (options: object) => Promise<ConstructorParameters<typeof FfiType>[0]>;
    const engine = await loader({
      wasmMemory: memory,
      print: () => undefined,
      printErr: () => undefined,
      instantiateWasm: (given: { a: Record<string, unknown> }, done: (made: WebAssembly.Instance) => void) => {
        const imports = deterministicImports(given.a, memory, {
          clock: () => link.host.clock(),
          exhausted: () => link.host.exhausted(),
        });
        const made = new WebAssembly.Instance(module, { a: imports });
        stackPointer = made.exports['Oa'] as () => number;
        rejectionHook = addRejectionHook(
          made.exports['table'] as WebAssembly.Table,
          (_context, promise, reason, handled) => link.host.onRejection(promise, reason, handled !== 0),
        );
        done(made);
        return made.exports;
      },
    });
    if (stackPointer === undefined || rejectionHook === undefined)
      throw new EngineAbortError('the engine was not instantiated');
    const ffi = new FfiType(engine);
    const instance = new EngineInstance(memory, ffi, engine, stackPointer, rejectionHook, link);
    engine.callbacks = {
      callFunction: (_asyncify, context, _self, count, values) => instance.called(context, count, values),
      shouldInterrupt: () => (link.host.shouldInterrupt() ? 1 : 0),
      loadModuleSource: () => {
        throw new EngineAbortError('modules are not loaded');
      },
      normalizeModule: () => {
        throw new EngineAbortError('modules are not loaded');
      },
      freeHostRef: () => undefined,
    };
    return instance;
  }

  /** Changes who is asked and told. */
  attach(host: GuestHost): void {
    this.link.host = host;
  }

  /** The C stack's pointer; between calls it must have its base value. */
  stackIsEmpty(): boolean {
    return this.stackPointer() === LAYOUT.stackTop;
  }

  /** The end of the used heap, in bytes. */
  programBreak(): number {
    return this.words[LAYOUT.breakAddress / 4] ?? 0;
  }

  allocate(size: number): number {
    const address = this.allocator._malloc(size);
    if (address === 0) throw new RangeError('no memory left in the engine');
    return address;
  }

  free(address: number): void {
    this.allocator._free(address);
  }

  newRuntime(stackBytes: number): JSRuntimePointer {
    const runtime = this.ffi.QTS_NewRuntime();
    this.ffi.QTS_RuntimeSetMaxStackSize(runtime, stackBytes);
    this.ffi.QTS_RuntimeEnableInterruptHandler(runtime);
    this.words[(runtime + LAYOUT.rejectionHookOffset) / 4] = this.rejectionHook;
    return runtime;
  }

  newContext(runtime: JSRuntimePointer): JSContextPointer {
    return this.ffi.QTS_NewContext(runtime, 0 as IntrinsicsFlags);
  }

  newHostFunction(context: JSContextPointer): JSValuePointer {
    return this.ffi.QTS_NewFunction(context, 'send', 2, false, 1 as HostRefId);
  }

  /** Runs source text in the global scope, sloppy mode. NUL and lone surrogates are legal: the length counts. */
  evaluate(context: JSContextPointer, source: Uint8Array, filename: string): EngineResult {
    const address = this.allocate(source.length + 1) as BorrowedHeapCharPointer;
    this.bytes.set(source, address);
    this.bytes[address + source.length] = 0;
    const value = this.ffi.QTS_Eval(context, address, source.length, filename, 0 as EvalDetectModule, 0 as EvalFlags);
    this.free(address);
    return this.result(context, value);
  }

  /** A string value from text without NUL (JSON). */
  newString(context: JSContextPointer, text: string): JSValuePointer {
    const value = this.tryNewString(context, text);
    if (value === undefined) throw new RangeError('no memory left in the engine');
    return value;
  }

  /** The same for text that may be large; undefined when there is no memory left for it. */
  tryNewString(context: JSContextPointer, text: string): JSValuePointer | undefined {
    const size = Buffer.byteLength(text, 'utf8');
    const address = this.allocator._malloc(size + 1) as BorrowedHeapCharPointer;
    if (address === 0) return undefined;
    this.bytes.write(text, address, 'utf8');
    this.bytes[address + size] = 0;
    const value = this.ffi.QTS_NewString(context, address);
    this.free(address);
    return value === 0 ? undefined : value;
  }

  /** Calls a guest function; `scratch` is room for the argument pointers. */
  call(
    context: JSContextPointer,
    callee: JSValuePointer,
    scratch: number,
    values: readonly JSValuePointer[],
  ): EngineResult {
    values.forEach((value, index) => {
      this.words[scratch / 4 + index] = value;
    });
    const self = this.ffi.QTS_GetUndefined();
    return this.result(
      context,
      this.ffi.QTS_Call(context, callee, self, values.length, scratch as JSValueConstPointerPointer),
    );
  }

  /**
   * A value as text up to its first NUL; it must be well formed. Undefined when the engine has no memory for the copy.
   * Throws when it is longer than `maxBytes`, before anything is decoded.
   */
  textOf(context: JSContextPointer, value: JSValueConstPointer, maxBytes: number): string | undefined {
    const address = this.ffi.QTS_GetString(context, value);
    if (address === 0) return undefined;
    const end = this.bytes.indexOf(0, address);
    if (end - address > maxBytes) throw new EngineAbortError(`a message of ${end - address} bytes`);
    const text = this.bytes.toString('utf8', address, end);
    this.ffi.QTS_FreeCString(context, address);
    return text;
  }

  private result(context: JSContextPointer, value: JSValuePointer): EngineResult {
    const error = this.ffi.QTS_ResolveException(context, value);
    return error === 0 ? { ok: true, value } : { ok: false, error };
  }

  private called(context: JSContextPointer, count: number, values: JSValueConstPointer): JSValuePointer {
    if (count < 2) return 0 as JSValuePointer;
    const kind = this.ffi.QTS_GetFloat64(context, this.ffi.QTS_ArgvGetJSValueConstPointer(values, 0));
    const payload = this.ffi.QTS_ArgvGetJSValueConstPointer(values, 1);
    const chars = count < 3 ? 0 : this.ffi.QTS_GetFloat64(context, this.ffi.QTS_ArgvGetJSValueConstPointer(values, 2));
    const answer = this.link.host.onSend(kind, payload, chars);
    const none = 0 as JSValuePointer;
    if (typeof answer === 'string') return this.tryNewString(context, answer) ?? none;
    return answer === undefined ? none : this.ffi.QTS_NewFloat64(context, answer);
  }
}
