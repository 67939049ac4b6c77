import { Database } from '#libs/persistence';
import { readFileSync, readdirSync } from 'node:fs';
import { type Cluster, eventually } from '../../libs/testing/src/index.js';

/** What a cluster of one API and one worker holds while no cell is under way. */
export class Footprint {
  private constructor(
    readonly slots: Readonly<Record<string, number>>,
    /** Names of the keys in Redis. */
    readonly redisKeys: readonly string[],
    /** Rows in Postgres that have no end. */
    readonly unfinished: { cells: number; calls: number },
    readonly figures: { workerMiB: number; apiMiB: number; threads: number; files: number; redisKeys: number },
  ) {}

  /** Waits until every thread of the worker is idle, and counts. */
  static async take(cluster: Cluster): Promise<Footprint> {
    const slots = await eventually(async () => {
      const found = await slotsOf(cluster);
      const { idle = 0, ...others } = found;
      return idle > 0 && Object.values(others).every((count) => count === 0) && found;
    });
    const redisKeys = await keysOf(cluster);
    const [worker, api] = [cluster.worker().pid, cluster.api().pid];
    return new Footprint(slots, redisKeys, await unfinishedIn(cluster), {
      workerMiB: residentMiB(worker),
      apiMiB: residentMiB(api),
      threads: statusOf(worker, 'Threads') + statusOf(api, 'Threads'),
      files: readdirSync(`/proc/${worker}/fd`).length + readdirSync(`/proc/${api}/fd`).length,
      redisKeys: redisKeys.length,
    });
  }
}

/** Threads of the worker by what they are doing. */
async function slotsOf(cluster: Cluster): Promise<Record<string, number>> {
  const metrics = await (await fetch(`${cluster.worker().url}/metrics`)).text();
  const lines = metrics.matchAll(/sandbox_threads\{[^}]*state="(\w+)"[^}]*\} (\d+)/g);
  return Object.fromEntries([...lines].map(([, state = '', count]) => [state, Number(count)]));
}

/** The keys in Redis once none comes or goes: those of a job go with it. */
async function keysOf(cluster: Cluster): Promise<string[]> {
  let keys = await cluster.redisKeys();
  await eventually(async () => {
    const again = await cluster.redisKeys();
    const isSteady = again.join() === keys.join();
    keys = again;
    return isSteady;
  });
  return keys;
}

async function unfinishedIn(cluster: Cluster): Promise<{ cells: number; calls: number }> {
  await using db = new Database({ url: cluster.databaseUrl, poolSize: 1, applicationName: 'test' });
  const [row] = await db.query<{ cells: number; calls: number }>(
    {
      name: 'unfinished',
      text: `SELECT (SELECT count(*)::int FROM cells WHERE state IN ('queued', 'running')) AS cells,
        (SELECT count(*)::int FROM calls WHERE ended_at IS NULL) AS calls`,
    },
    [],
  );
  return row ?? { cells: -1, calls: -1 };
}

function statusOf(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
}

function residentMiB(pid: number): number {
  return Math.round(statusOf(pid, 'VmRSS') / 1_024);
}
