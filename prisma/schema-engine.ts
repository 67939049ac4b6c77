import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SchemaContainer, SchemaEngine } from '@prisma/schema-engine-wasm';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import { EngineAdapter, EnginePool } from './engine-adapter.js';

/** The part of Node's global WebAssembly that is used here; its types come only with those of the browser. */
interface WebAssemblyApi {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> };
}

/** The engine reports a panic to a global of this name before it traps; the trap alone would say only "unreachable". */
const panicRegistry = {
  set_message(message: string): void {
    throw new Error(`Prisma's schema engine panicked: ${message}`);
  },
};

let loaded = false;

/** The bundler-style entry of the package needs an import of the .wasm file, which Node 20 does not have. */
function loadBindings(): void {
  if (loaded) return;
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyApi };
  const wasm = new WebAssembly.Module(readFileSync(join(dirname(entry), 'schema_engine_bg.wasm')));
  const { exports } = new WebAssembly.Instance(wasm, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(exports);
  const start = exports['__wbindgen_start'];
  if (typeof start !== 'function')
    throw new Error('The schema engine has no __wbindgen_start: its version must be the pinned one.');
  start();
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: panicRegistry });
  loaded = true;
}

/** An engine with the one connection that it works over. Disposing of it closes that, and so frees its locks. */
export interface OpenEngine extends AsyncDisposable {
  engine: SchemaEngine;
}

/**
 * Prisma's schema engine as WebAssembly, connected to one database. It stands in for the native engine that Prisma's
 * command line downloads from its vendor, which many machines cannot reach.
 *
 * @param schema the Prisma schema; the engine wants one even where it only applies SQL.
 */
export async function openSchemaEngine(databaseUrl: string, schema: SchemaContainer): Promise<OpenEngine> {
  loadBindings();
  const pool = new EnginePool(databaseUrl);
  const adapter = bindMigrationAwareSqlAdapterFactory(new EngineAdapter(pool));
  const options = { datamodels: [[schema.path, schema.content]] as [string, string][] };
  const engine = await bindings.SchemaEngine.new(options, () => undefined, adapter);
  return {
    engine,
    [Symbol.asyncDispose]: async () => {
      engine.free();
      await pool.end();
    },
  };
}
