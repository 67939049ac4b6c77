import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { administer, databaseUrlOf } from './admin.js';

/** A database of a test file's own. Disposing of it drops it, whoever is still connected. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

async function create(clause: string): Promise<TestDatabase> {
  const server = inject('databaseUrl');
  const name = `cellar_test_${randomBytes(8).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name} ${clause}`);
  return {
    url: databaseUrlOf(server, name),
    [Symbol.asyncDispose]: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** A fresh database with all migrations applied: a copy of a template that is made once per run. */
export function testDatabase(): Promise<TestDatabase> {
  return create(`TEMPLATE ${inject('templateDatabase')}`);
}

/** A database with nothing in it, for testing the migrations themselves. */
export function emptyDatabase(): Promise<TestDatabase> {
  return create('TEMPLATE template0');
}
