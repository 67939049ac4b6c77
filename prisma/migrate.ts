import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MigrationList, SchemaContainer, SchemaEngine } from '@prisma/schema-engine-wasm';
import { ConfigError, loadMigrateConfig } from '#libs/config';
import { ensureDatabase, withMigrationLock } from './database.js';
import { packageRoot } from './package-root.js';
import { openSchemaEngine } from './schema-engine.js';

const NOTHING_EXTERNAL = { externalTables: [], externalEnums: [] };

function prismaFolder(): string {
  return join(packageRoot(), 'prisma');
}

function schemaFile(): SchemaContainer {
  const path = join(prismaFolder(), 'schema.prisma');
  return { path, content: readFileSync(path, 'utf8') };
}

function migrationsOf(baseDir: string): MigrationList {
  const lockfile = join(baseDir, 'migration_lock.toml');
  const names = readdirSync(baseDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  return {
    baseDir,
    lockfile: { path: 'migration_lock.toml', content: existsSync(lockfile) ? readFileSync(lockfile, 'utf8') : null },
    shadowDbInitScript: '',
    migrationDirectories: names.map((name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok', value: readFileSync(join(baseDir, name, 'migration.sql'), 'utf8') },
      },
    })),
  };
}

/** A migration that Postgres refused. It changed nothing; the next run tries it again. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * Marks the migration that failed as rolled back, which it is, since a migration is applied whole or not at all. Left
 * as failed, it would keep the engine from applying anything until somebody resolves it by hand.
 */
async function undone(engine: SchemaEngine, error: unknown): Promise<unknown> {
  if (!(error instanceof Error)) return error;
  const migrationName = /migration_name="([^"]+)"/.exec(error.message)?.[1];
  if (migrationName === undefined) return error;
  await engine.markMigrationRolledBack({ migrationName });
  const [said = ''] = error.message.replace(/^external connector error\n/, '').split(/\n\s+0: /);
  return new MigrationError(`The migration ${migrationName} was not applied. ${said}`, { cause: error });
}

/**
 * Applies the migrations that the database does not have yet, in the order of their names, and records them in
 * `_prisma_migrations` as Prisma's own command line does. Creates the database when it is missing and the user may.
 * Runs of several processes at once wait for each other. A migration that fails
 * changes nothing.
 *
 * @param migrationsDir where the migrations are; by default those of this package.
 * @throws MigrationError that names the migration and says what Postgres said.
 * @returns the names that were applied now; empty when the database is up to date.
 */
export async function migrate(
  databaseUrl: string,
  migrationsDir: string = join(prismaFolder(), 'migrations'),
): Promise<string[]> {
  await ensureDatabase(databaseUrl);
  return withMigrationLock(databaseUrl, async () => {
    await using open = await openSchemaEngine(databaseUrl, schemaFile());
    const migrationsList = migrationsOf(migrationsDir);
    try {
      const applied = await open.engine.applyMigrations({ migrationsList, filters: NOTHING_EXTERNAL });
      return applied.appliedMigrationNames;
    } catch (error) {
      throw await undone(open.engine, error);
    }
  });
}

/**
 * What would have to change for the database to agree with schema.prisma, as SQL; empty when they agree. Triggers,
 * functions and partial indexes are beyond what the schema says and so are not compared.
 */
export async function diffAgainstSchema(databaseUrl: string): Promise<string> {
  const schema = schemaFile();
  await using open = await openSchemaEngine(databaseUrl, schema);
  const { stdout } = await open.engine.diff({
    from: { tag: 'schemaDatasource', files: [schema], configDir: prismaFolder() },
    to: { tag: 'schemaDatamodel', files: [schema] },
    script: true,
    exitCode: null,
    filters: NOTHING_EXTERNAL,
  });
  const sql = stdout ?? '';
  return sql.includes('This is an empty migration') ? '' : sql.trim();
}

/** The migration job: applies what is missing to DATABASE_URL and says what it did. */
async function main(): Promise<void> {
  try {
    const applied = await migrate(loadMigrateConfig().database.url);
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
  } catch (error) {
    const expected = error instanceof ConfigError || error instanceof MigrationError;
    console.error(expected ? error.message : error);
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
