import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import type { SchemaEngine } from '@prisma/schema-engine-wasm';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';

/**
 * Sends a migration to Postgres as one text. The base class cuts it at every semicolon, which breaks function bodies
 * and gives each statement a transaction of its own; as one text, a migration is applied whole or not at all.
 */
class WholeScriptPg extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    adapter.executeScript = async (script: string): Promise<void> => {
      await adapter.underlyingDriver().query(script);
    };
    return adapter;
  }
}

let loaded = false;

/** The bundler-style entry of the package needs an import of the .wasm file, which Node 20 does not have. */
function loadBindings(): void {
  if (loaded) return;
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const wasm = new WebAssembly.Module(readFileSync(join(dirname(entry), 'schema_engine_bg.wasm')));
  const { exports } = new WebAssembly.Instance(wasm, { './schema_engine_bg.js': bindings as WebAssembly.ModuleImports });
  bindings.__wbg_set_wasm(exports);
  const start = exports['__wbindgen_start'];
  if (typeof start !== 'function') throw new Error('The schema engine has no __wbindgen_start: its version must be the pinned one.');
  start();
  loaded = true;
}

/**
 * Prisma's schema engine as WebAssembly, connected to one database. It stands in for the native engine that Prisma's
 * command line downloads from its vendor, which many machines cannot reach.
 *
 * @param schema what the engine holds the database against: file names with contents.
 */
export async function openSchemaEngine(databaseUrl: string, schema: [string, string][]): Promise<SchemaEngine> {
  loadBindings();
  const adapter = bindMigrationAwareSqlAdapterFactory(new WholeScriptPg({ connectionString: databaseUrl, max: 2 }));
  return bindings.SchemaEngine.new({ datamodels: schema }, () => undefined, adapter);
}
