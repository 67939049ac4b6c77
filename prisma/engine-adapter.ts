import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum, DriverAdapterError } from '@prisma/driver-adapter-utils';
import pg from 'pg';

/** Postgres' internal one-byte type, in which its catalogs hold the kinds of constraints and the like. */
const INTERNAL_CHAR_OID = 18;
const TEXT_OID = 25;

/** A pool of the one connection on which the schema engine keeps its lock. */
export class EnginePool extends pg.Pool {
  /** The columns of the internal type, by the rows that held them. */
  readonly charColumns = new WeakMap<object, number[]>();

  constructor(databaseUrl: string) {
    super({ connectionString: databaseUrl, max: 1 });
    this.on('error', () => undefined);
    const query = this.query.bind(this) as (config: unknown) => Promise<pg.QueryResult | pg.QueryResult[]>;
    const patched = async (config: unknown): Promise<pg.QueryResult | pg.QueryResult[]> => {
      const result = await query(config);
      if (!Array.isArray(result)) this.#passAsText(result);
      return result;
    };
    Object.assign(this, { query: patched });
  }

  #passAsText({ rows, fields }: pg.QueryResult): void {
    const chars = fields.flatMap((field, index) => (field.dataTypeID === INTERNAL_CHAR_OID ? [index] : []));
    for (const index of chars) Object.assign(fields[index] ?? {}, { dataTypeID: TEXT_OID });
    if (chars.length > 0) this.charColumns.set(rows, chars);
  }
}

/** The form in which the engine puts what Postgres said into its own message. */
function asDriverError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const { code = 'N/A', severity = 'N/A', message, detail, column, hint } = error;
  return new DriverAdapterError({ kind: 'postgres', code, severity, message, detail, column, hint });
}

/**
 * Prisma's adapter, as the schema engine needs it. Two things differ.
 *
 * A migration goes to Postgres as one text: the base class cuts it at every semicolon, which breaks function bodies
 * and gives each statement a transaction of its own. As one text it is applied whole or not at all.
 *
 * The catalogs' one-byte columns, which the base class refuses, are passed on as characters; the engine cannot
 * describe a database without them.
 */
export class EngineAdapter extends PrismaPg {
  readonly #pool: EnginePool;

  constructor(pool: EnginePool) {
    super(pool);
    this.#pool = pool;
  }

  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    const pool = this.#pool;
    adapter.executeScript = async (script) => {
      await pool.query(script).catch((error: unknown) => {
        throw asDriverError(error);
      });
    };
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query);
      for (const index of pool.charColumns.get(result.rows) ?? []) result.columnTypes[index] = ColumnTypeEnum.Character;
      return result;
    };
    return adapter;
  }
}
