import pg from 'pg';

const NO_SUCH_DATABASE = '3D000';
const ALREADY_THERE = new Set(['42P04', '23505']);

/** The key of the advisory lock that lets one migration run at a time: the letters "cell". */
const MIGRATION_LOCK = 0x63656c6c;
const LOCK_TIMEOUT_MS = 120_000;

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

async function connect(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Creates the database that the address names, when the server has none of that name and the user may. */
export async function ensureDatabase(databaseUrl: string): Promise<void> {
  try {
    await (await connect(databaseUrl)).end();
    return;
  } catch (error) {
    if (codeOf(error) !== NO_SUCH_DATABASE) throw error;
  }
  const url = new URL(databaseUrl);
  const name = decodeURIComponent(url.pathname.slice(1));
  url.pathname = '/postgres';
  const client = await connect(url.href);
  try {
    await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  } catch (error) {
    if (!ALREADY_THERE.has(codeOf(error) ?? '')) throw error;
  } finally {
    await client.end();
  }
}

/** Runs `work` while holding the database's migration lock; a second caller, in any process, waits for its turn. */
export async function withMigrationLock<T>(databaseUrl: string, work: () => Promise<T>): Promise<T> {
  const client = await connect(databaseUrl);
  try {
    await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await work();
  } finally {
    await client.end();
  }
}
