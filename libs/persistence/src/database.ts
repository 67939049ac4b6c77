import { CellarError, InternalError, UnavailableError } from '#libs/core';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client.js';

/** One hot statement: prepared once per connection under its name. */
export interface Statement {
  name: string;
  text: string;
}

export interface DatabaseOptions {
  url: string;
  /** Connections of this process in all. */
  poolSize: number;
  applicationName: string;
  /** Told when an idle connection breaks; the pool makes a new one by itself. */
  onConnectionLost?: (cause: Error) => void;
}

/** How long a request waits for a connection before it is told that Postgres is away, in ms. */
const CONNECTION_TIMEOUT_MS = 5_000;

/** Sequences are safe integers, so bigints are read as numbers. */
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/**
 * The connections of one process. Ordinary work goes through Prisma; the statements on the way of a cell are plain
 * prepared SQL (9. Protocols, 25). `relaxed` commits asynchronously: only for rows that a later synchronous commit
 * flushes before anybody relies on them.
 */
export class Database implements AsyncDisposable {
  readonly prisma: PrismaClient;
  readonly #strict: pg.Pool;
  readonly #relaxed: pg.Pool;

  constructor(options: DatabaseOptions) {
    const half = Math.max(1, Math.ceil(options.poolSize / 2));
    const shared = {
      connectionString: options.url,
      max: half,
      application_name: options.applicationName,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      keepAlive: true,
      types,
    };
    this.#strict = new pg.Pool(shared);
    this.#relaxed = new pg.Pool({ ...shared, options: '-c synchronous_commit=off' });
    for (const pool of [this.#strict, this.#relaxed]) pool.on('error', (e) => options.onConnectionLost?.(e));
    this.prisma = withOurErrors(new PrismaClient({ adapter: new PrismaPg(this.#strict) }));
  }

  /** Runs one statement, committed when it returns. */
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return run<Row>(this.#strict, statement, values);
  }

  /** Runs one statement whose commit reaches the disk with the next synchronous one, or within a second. */
  relaxed<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    return run<Row>(this.#relaxed, statement, values);
  }

  /** Runs `work` in one transaction (READ COMMITTED); rolls back and rethrows what it throws. */
  async transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    const client = await this.#strict.connect().catch(fail);
    let broken: Error | undefined;
    // The pool listens to idle connections only; one that breaks in use would end the process.
    const onBroken = (error: Error): void => void (broken = error);
    client.on('error', onBroken);
    try {
      await client.query('BEGIN');
      const result = await work({ query: (statement, values) => run(client, statement, values) });
      await client.query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(onBroken);
      return fail(error);
    } finally {
      client.off('error', onBroken);
      client.release(broken);
    }
  }

  /** Rejects with {@link UnavailableError} when Postgres does not answer. */
  async ping(): Promise<void> {
    await this.query({ name: 'ping', text: 'SELECT 1' }, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.prisma.$disconnect();
    await Promise.all([this.#strict.end(), this.#relaxed.end()]);
  }
}

/** Statements inside one transaction. */
export interface Transaction {
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

async function run<Row>(on: pg.Pool | pg.PoolClient, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
  try {
    const result = await on.query({ name: statement.name, text: statement.text, values: [...values] });
    return result.rows as Row[];
  } catch (error) {
    return fail(error);
  }
}

/** Prisma's queries fail with our errors too. */
function withOurErrors(prisma: PrismaClient): PrismaClient {
  const extended = prisma.$extends({ query: { $allOperations: ({ args, query }) => query(args).catch(fail) } });
  return extended as unknown as PrismaClient;
}

function fail(error: unknown): never {
  throw toDatabaseError(error);
}

/** SQLSTATE classes and network codes that mean that the server is away, not that the statement was wrong. */
const AWAY = /^(08...|57P0[1-3]|53300|ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|P10\d\d|P2024)$/;
const AWAY_TEXT =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/;

/** Postgres's and Prisma's errors as ours: away is 503, the rest is a fault of Cellar. Ours pass through. */
export function toDatabaseError(error: unknown): Error {
  if (error instanceof CellarError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = error instanceof Error ? error.message : '';
  if (AWAY.test(code) || AWAY_TEXT.test(text)) return new UnavailableError('Postgres', { cause: error });
  return new InternalError('A statement failed.', { cause: error });
}
