import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { eventually } from '#libs/testing';

const root = join(import.meta.dirname, '../..');
const devFileSchema = z.object({
  url: z.string(),
  apiKey: z.string(),
  adminKey: z.string(),
  pids: z.object({ api: z.number(), workers: z.array(z.number()) }),
});

/** A folder that only we can enter, as `mktemp -d` makes it: as root, Postgres' own user cannot. */
function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'cellar-start-'));
  onTestFinished(() => {
    const link = lstatSync(join(home, 'postgres'), { throwIfNoEntry: false });
    if (link?.isSymbolicLink()) rmSync(dirname(readlinkSync(join(home, 'postgres'))), { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
  });
  return home;
}

class Start {
  output = '';
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor(home: string, env: Record<string, string> = {}) {
    const { DATABASE_URL: _database, REDIS_URL: _redis, ...rest } = process.env;
    this.#child = spawn(process.execPath, ['apps/embedded/bootstrap.mjs'], {
      cwd: root,
      env: { ...rest, NODE_ENV: 'development', CELLAR_HOME: home, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
    this.exited = once(this.#child, 'exit').then(([code]) => code as number | null);
    onTestFinished(async () => {
      this.signal('SIGTERM');
      await this.exited;
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The line that says that everything is up; rejects with all output when it ends before. */
  async ready(): Promise<void> {
    const ended = this.exited.then(() => Promise.reject(new Error(this.output)));
    const said = eventually(() => this.output.includes('Ctrl-C stops everything'), { withinMs: 110_000 });
    await Promise.race([said, ended]);
  }
}

function devFile(home: string): z.infer<typeof devFileSchema> {
  return devFileSchema.parse(JSON.parse(readFileSync(join(home, 'dev.json'), 'utf8')));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('npm start ends with the sample, a ready line and a curl line that works; it mends what dies and stops all', async () => {
  const home = newHome();
  const start = new Start(home);
  await start.ready();
  expect(start.output).toContain('Hello from a cell.');
  expect(start.output).toContain('{"squares":[1,4,9,16],"sum":30}');
  const { url, apiKey, pids } = devFile(home);
  expect(start.output).toContain(`Cellar is ready at ${url}\nAPI key: ${apiKey}\n`);
  expect(statSync(join(home, 'dev.json')).mode & 0o777).toBe(0o600);
  const line = /curl .*/.exec(start.output)?.[0] ?? '';
  const answer = spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8' }).stdout;
  expect(JSON.parse(answer)).toMatchObject({ state: 'completed', content: [{}, { type: 'text', text: '42' }] });

  const again = new Start(home);
  expect(await again.exited).toBe(1);
  expect(again.output).toMatch(new RegExp(`Cellar is already running in ${home} \\(process \\d+\\)`));
  expect(again.output).not.toMatch(/^ {4}at /m);

  const [worker = 0] = pids.workers;
  process.kill(worker, 'SIGKILL');
  const after = await eventually(() => {
    const now = devFile(home).pids;
    return now.workers[0] !== worker && now;
  });
  expect(after.api).toBe(pids.api);
  await eventually(
    () => JSON.parse(spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8' }).stdout).state === 'completed',
  );

  start.signal('SIGTERM');
  expect(await start.exited).toBe(0);
  expect([after.api, ...after.workers].filter(isAlive)).toEqual([]);
  expect(existsSync(join(home, 'postgres', 'postmaster.pid'))).toBe(false);
  expect(existsSync(join(home, 'dev.json'))).toBe(false);
}, 240_000);

test('a chosen key works, at the next start too; nothing outlives a start that is killed', async () => {
  const home = newHome();
  const key = 'cel_chosen_secret-of-the-one-who-starts';
  for (const attempt of ['first', 'second']) {
    const start = new Start(home, { CELLAR_DEV_KEY: key });
    await start.ready();
    const { url, apiKey, pids } = devFile(home);
    expect(apiKey, attempt).toBe(key);
    const { status } = await fetch(`${url}/v1/conversations/sample`, { headers: { authorization: `Bearer ${key}` } });
    expect(status).toBe(200);
    start.signal('SIGKILL');
    await start.exited;
    await eventually(() => ![pids.api, ...pids.workers].some(isAlive), { withinMs: 40_000 });
  }
}, 240_000);

test('what is missing is told in one message, without a stack', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  const port = String(address !== null && typeof address === 'object' && address.port);
  const file = join(newHome(), 'file');
  writeFileSync(file, '');
  const cases: [env: Record<string, string>, said: RegExp][] = [
    [{ PORT: port }, new RegExp(`Port ${port} on 127.0.0.1 is taken by another program.*PORT=`)],
    [{ PORT: 'x' }, /PORT: expected .* given: "x"/],
    [{ CELLAR_HOME: `${file}/home` }, /The folder .*\/file\/home cannot be written. Choose another: CELLAR_HOME=/],
  ];
  for (const [env, said] of cases) {
    const start = new Start(newHome(), env);
    expect(await start.exited).toBe(1);
    expect(start.output).toMatch(said);
    expect(start.output).not.toMatch(/^ {4}at /m);
  }
}, 120_000);
