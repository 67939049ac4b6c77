import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { emptyDatabase, testDatabase, type TestDatabase } from '#libs/testing';
import { diffAgainstSchema, migrate } from './migrate.js';

async function fresh(make: () => Promise<TestDatabase>): Promise<{ url: string; client: pg.Client }> {
  const database = await make();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await database[Symbol.asyncDispose]();
  });
  return { url: database.url, client };
}

function migrations(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'cellar-migrations-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, sql] of Object.entries(files)) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'migration.sql'), sql);
  }
  return folder;
}

test('a fresh database and schema.prisma agree, and running again applies nothing', async () => {
  const { url, client } = await fresh(emptyDatabase);
  const applied = await migrate(url);
  expect(applied.length).toBeGreaterThan(0);
  expect(await diffAgainstSchema(url)).toBe('');
  expect(await migrate(url)).toEqual([]);
  const { rows } = await client.query<{ migration_name: string; finished_at: Date | null }>(
    'SELECT migration_name, finished_at FROM _prisma_migrations ORDER BY migration_name',
  );
  expect(rows.map((row) => row.migration_name)).toEqual(applied);
  expect(rows.every((row) => row.finished_at !== null)).toBe(true);
});

test('a difference between the database and schema.prisma is told as SQL', async () => {
  const { url, client } = await fresh(testDatabase);
  await client.query('ALTER TABLE tenants ADD COLUMN surplus text');
  expect(await diffAgainstSchema(url)).toContain('DROP COLUMN "surplus"');
});

test('several processes that migrate at once apply each migration once', async () => {
  const { url } = await fresh(emptyDatabase);
  const folder = migrations({ '1_one': 'CREATE TABLE one (a int);', '2_two': 'CREATE TABLE two (a int);' });
  const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(url, folder)));
  expect(applied.flat().sort()).toEqual(['1_one', '2_two']);
});

test('a migration is one text: function bodies keep their semicolons', async () => {
  const { url, client } = await fresh(emptyDatabase);
  const body = 'BEGIN PERFORM 1; RETURN 42; END';
  const folder = migrations({ '1_f': `CREATE FUNCTION answer() RETURNS int LANGUAGE plpgsql AS $$ ${body} $$;` });
  await migrate(url, folder);
  expect((await client.query('SELECT answer() AS value')).rows).toEqual([{ value: 42 }]);
});

test('a migration that fails is named, changes nothing, and is tried again', async () => {
  const { url, client } = await fresh(emptyDatabase);
  const folder = migrations({ '1_half': 'CREATE TABLE half (a int); SELECT no_such_function();' });
  const failure = expect.objectContaining({
    name: 'MigrationError',
    message: expect.stringMatching(/^The migration 1_half was not applied\. .*no_such_function/) as string,
  }) as Error;
  await expect(migrate(url, folder)).rejects.toEqual(failure);
  expect((await client.query("SELECT to_regclass('half') AS half")).rows).toEqual([{ half: null }]);
  writeFileSync(join(folder, '1_half', 'migration.sql'), 'CREATE TABLE half (a int);');
  expect(await migrate(url, folder)).toEqual(['1_half']);
});

test('the database is created when the server does not have it', async () => {
  const { url, client } = await fresh(emptyDatabase);
  const other = new URL(url);
  other.pathname += '_more';
  const folder = migrations({ '1_one': 'CREATE TABLE one (a int);' });
  expect(await migrate(other.href, folder)).toEqual(['1_one']);
  await client.query(`DROP DATABASE ${client.escapeIdentifier(other.pathname.slice(1))} WITH (FORCE)`);
});
