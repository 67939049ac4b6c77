import { type Dialect, type OutputItem, type Owner, type ValueWrite, newCellId, newProcessId } from '#libs/core';
import {
  type CellEnd,
  type CellOptions,
  type ClaimedCell,
  type CommittedEnd,
  Database,
  claimCell,
  createTenant,
  endCell,
  insertCell,
  putConversation,
  registerWorker,
} from '#libs/persistence';
import { type TestDatabase, testDatabase } from '../../libs/testing/src/index.js';

const options: CellOptions = {
  maxOutputTokens: 10_000,
  effective: {},
  limits: { cpuMs: 60_000, stretchCpuMs: 5_000, wallMs: 3_600_000 },
};

/** How a cell of a test differs from the usual one. */
export interface CellWish {
  branchId?: string;
  dialect?: Dialect;
  source?: string;
  observer?: string | undefined;
  deadlineInMs?: number;
  conversationVersion?: number;
}

/** A database with one tenant, one direct conversation and one worker, and the steps of a cell on it. */
export class StoreFixture implements AsyncDisposable {
  readonly workerId = newProcessId('worker');
  observers = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly db: Database,
    readonly owner: Owner,
  ) {}

  static async create(poolSize = 8): Promise<StoreFixture> {
    const database = await testDatabase();
    const db = new Database({ url: database.url, poolSize, applicationName: 'test' });
    const tenantId = await createTenant(db, 'a tenant');
    const ref = { tenantId, conversationId: 'conversation' };
    const { conversation } = await putConversation(db, ref, { kind: 'direct' });
    const fixture = new StoreFixture(database, db, { ...ref, epoch: conversation.epoch, writer: '' });
    await registerWorker(db, { workerId: fixture.workerId, slots: 1, imageVersion: 'test' });
    return fixture;
  }

  /** Inserts a queued cell; its id, and whether it was inserted. */
  async insert(wish: CellWish = {}, owner: Owner = this.owner): Promise<{ cellId: string; inserted: boolean }> {
    const cellId = newCellId();
    const inserted = await insertCell(this.db, {
      cellId,
      owner,
      conversationVersion: wish.conversationVersion ?? 2,
      branchId: wish.branchId ?? 'main',
      dialect: wish.dialect ?? 'exec',
      source: wish.source ?? 'text(1)',
      options,
      observer: wish.observer ?? `api-x.${(this.observers += 1)}`,
      yieldInMs: 10_000,
      ...(wish.deadlineInMs === undefined ? {} : { deadlineInMs: wish.deadlineInMs }),
    });
    return { cellId, inserted };
  }

  claim(cellId: string): Promise<ClaimedCell | undefined> {
    return claimCell(this.db, { cellId, stretch: 1, workerId: this.workerId });
  }

  ref(cellId: string): { cellId: string; stretch: number; workerId: string } {
    return { cellId, stretch: 1, workerId: this.workerId };
  }

  /** Ends a claimed cell as completed. */
  end(claimed: ClaimedCell, writes: ValueWrite[] = [], items: OutputItem[] = []): Promise<CommittedEnd | undefined> {
    const end: CellEnd = { state: 'completed', warnings: [], cpuMs: 1, output: { first: 0, items } };
    const { owner, branchId, dialect, cellId } = claimed;
    return endCell(this.db, this.ref(cellId), end, { owner, branchId, dialect, writes });
  }

  /** Ends a cell as its worker would, with nothing beside the state. */
  async endById(cellId: string, state: 'completed' | 'failed' = 'completed'): Promise<void> {
    await endCell(this.db, this.ref(cellId), { state, warnings: [], cpuMs: 1, output: { first: 0, items: [] } });
  }

  /** Runs one cell that writes values, from its insertion to its end. */
  async write(writes: ValueWrite[], branchId = 'main'): Promise<CommittedEnd | undefined> {
    const { cellId } = await this.insert({ branchId });
    const claimed = await this.claim(cellId);
    if (!claimed) throw new Error('the cell was not claimed');
    return this.end(claimed, writes);
  }

  /** The values that a cell on this branch would start with. */
  async read(branchId = 'main'): Promise<Map<string, string>> {
    const { cellId } = await this.insert({ branchId });
    const claimed = await this.claim(cellId);
    if (!claimed) throw new Error('the cell was not claimed');
    await this.end(claimed);
    return claimed.values;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.db[Symbol.asyncDispose]();
    await this.database[Symbol.asyncDispose]();
  }
}
