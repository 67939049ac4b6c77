import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MigrationList, SchemaContainer } from '@prisma/schema-engine-wasm';
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

/**
 * Applies the migrations that the database does not have yet, in the order of their names, and records them in
 * `_prisma_migrations` as Prisma's own command line does. Creates the database when it is missing and the user may.
 * Runs of several processes at once wait for each other. A migration that fails changes nothing and is named.
 *
 * @param migrationsDir where the migrations are; by default those of this package.
 * @returns the names that were applied now; empty when the database is up to date.
 */
export async function migrate(
  databaseUrl: string,
  migrationsDir: string = join(prismaFolder(), 'migrations'),
): Promise<string[]> {
  await ensureDatabase(databaseUrl);
  return withMigrationLock(databaseUrl, async () => {
    const engine = await openSchemaEngine(databaseUrl, []);
    try {
      const migrationsList = migrationsOf(migrationsDir);
      const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters: NOTHING_EXTERNAL });
      return appliedMigrationNames;
    } finally {
      engine.free();
    }
  });
}

/**
 * What would have to change for the database to agree with schema.prisma, as SQL; empty when they agree. Triggers,
 * functions and partial indexes are beyond what the schema says and so are not compared.
 */
export async function diffAgainstSchema(databaseUrl: string): Promise<string> {
  const schema = schemaFile();
  const engine = await openSchemaEngine(databaseUrl, [[schema.path, schema.content]]);
  try {
    const { stdout } = await engine.diff({
      from: { tag: 'url', url: databaseUrl },
      to: { tag: 'schemaDatamodel', files: [schema] },
      script: true,
      exitCode: null,
      shadowDatabaseUrl: null,
      filters: NOTHING_EXTERNAL,
    });
    const sql = stdout ?? '';
    return sql.includes('This is an empty migration') ? '' : sql.trim();
  } finally {
    engine.free();
  }
}
