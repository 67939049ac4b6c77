import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type Socket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '#libs/testing';
import { freePort, isFree } from './free-port.js';
import { startPostgres } from './postgres.js';
import { isAlive } from './processes.js';
import { redisProgram } from './redis-install.js';
import { redisCommand, startRedis } from './redis.js';
import type { Service } from './service.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cellar-services-'));
  chmodSync(path, 0o711);
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const program = redisProgram({ path: process.env['PATH'] ?? '', isRoot: false, report: () => undefined });
const postgres = (path: string): Promise<Service> =>
  startPostgres({ dataDir: join(path, 'pg'), logFile: join(path, 'pg.log'), password: 'secret' });
const redis = (path: string): Promise<Service> =>
  startRedis({ program, dataDir: join(path, 'redis'), logFile: join(path, 'redis.log'), password: 'secret' });

test('Redis keeps what was written over a restart, evicts nothing, and asks for its password', async () => {
  const path = folder();
  const first = await redis(path);
  expect(await redisCommand(first.port, 'secret', 'SET kept 1')).toBe('+OK');
  expect(await redisCommand(first.port, 'wrong', 'GET kept')).toMatch(/^-WRONGPASS/);
  await first.stop();
  await expect(first.exited).resolves.toBe(0);
  await using second = await redis(path);
  expect(await redisCommand(second.port, 'secret', 'INCR kept')).toBe(':2');
  expect(readFileSync(join(path, 'redis', 'redis.conf'), 'utf8')).toContain('maxmemory-policy noeviction');
});

test('Postgres starts on its old data, and stops in good order', async () => {
  const path = folder();
  const first = await postgres(path);
  expect(first.url).toBe(`postgresql://cellar:secret@127.0.0.1:${first.port}/cellar`);
  await first.stop();
  expect(existsSync(join(path, 'pg', 'postmaster.pid'))).toBe(false);
  await using second = await postgres(path);
  expect(await isFree(second.port, '127.0.0.1')).toBe(false);
});

test('a server that cannot start says where the reason is', async () => {
  const path = folder();
  const asking: Socket[] = [];
  const taken = createServer((socket) => asking.push(socket));
  const port = await freePort();
  taken.listen(port, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => {
    taken.close();
    for (const socket of asking) socket.destroy();
  });
  const start = startRedis({ program, dataDir: join(path, 'r'), logFile: join(path, 'r.log'), password: 'x', port });
  await expect(start).rejects.toThrow(`Redis did not start. The reason is at the end of ${join(path, 'r.log')}.`);
  expect(readFileSync(join(path, 'r.log'), 'utf8')).toMatch(/in use/i);
});

test('services end when their owner is killed, and the next start finds everything in order', async () => {
  const path = folder();
  const code = `
    const { startPostgres } = await import(${JSON.stringify(built('postgres.js'))});
    const { startRedis } = await import(${JSON.stringify(built('redis.js'))});
    const [path, program] = process.argv.slice(1);
    const pg = await startPostgres({ dataDir: path + '/pg', logFile: path + '/pg.log', password: 'secret' });
    const redis = await startRedis({ program, dataDir: path + '/redis', logFile: path + '/redis.log', password: 'secret' });
    console.log(JSON.stringify([pg.pid, redis.pid]));`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', code, path, program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = (await once(owner.stdout, 'data')) as [Buffer];
  const pids = JSON.parse(output.toString()) as number[];
  expect(pids.map(isAlive)).toEqual([true, true]);
  owner.kill('SIGKILL');
  await using _again = await postgres(path);
  await using _redisAgain = await redis(path);
  await eventually(() => !pids.some(isAlive));
});

/** The compiled file: the owner is a process of its own, which cannot load TypeScript. */
function built(name: string): string {
  return join(import.meta.dirname, '../../../../dist/apps/embedded/src/services', name);
}
