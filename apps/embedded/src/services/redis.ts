import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { StartProblem } from '../start-problem.js';
import { freePort } from './free-port.js';
import { startGuarded } from './guard.js';
import { commandLineOf, isAlive, until } from './processes.js';
import type { Service } from './service.js';

const START_TIMEOUT_MS = 60_000;
const REPLY_TIMEOUT_MS = 2_000;

/** How to start Redis. */
export interface RedisOptions {
  /** The server's file, as `redisProgram` finds it. */
  program: string;
  /** Where it keeps its data; made when it is not there. */
  dataDir: string;
  logFile: string;
  password: string;
  /** By default any free one. */
  port?: number;
  /** Lines of its configuration beyond those that Cellar needs. */
  settings?: Record<string, string>;
}

/**
 * Sends one command to a Redis and resolves with the first line of the reply (`+PONG`, `:1`, `-ERR ...`). For looking
 * after a server that was started here; the product itself speaks to Redis through its libraries.
 */
export function redisCommand(port: number, password: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let received = '';
    socket.setTimeout(REPLY_TIMEOUT_MS, () => socket.destroy(new Error(`Redis did not answer ${command}.`)));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`Redis closed the connection instead of answering ${command}.`)));
    socket.on('data', (bytes) => {
      received += bytes.toString();
      const [login, reply, end] = received.split('\r\n');
      if (reply === undefined || end === undefined) return;
      resolve(login === '+OK' ? reply : (login ?? ''));
      socket.destroy();
    });
    socket.write(`AUTH ${password}\r\n${command}\r\n`);
  });
}

/** Ends a server that a killed owner left behind: its guard is at it already, this makes sure. */
async function endLeftOver(configuration: string, pidFile: string): Promise<void> {
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  const gone = (): boolean => !Number.isInteger(pid) || !isAlive(pid) || !commandLineOf(pid).includes(configuration);
  if (await until(gone, 3_000)) return;
  process.kill(pid, 'SIGTERM');
  if (!(await until(gone, 20_000)))
    throw new StartProblem(`A Redis of an earlier start (process ${pid}) does not end. End it and start again.`);
}

/**
 * Starts a real Redis on the loopback interface, with what the queue needs: nothing is evicted, and what was accepted
 * is on the disk (append-only file).
 *
 * @throws StartProblem when it does not come up.
 */
export async function startRedis({
  program,
  dataDir,
  logFile,
  password,
  port: wanted,
  settings,
}: RedisOptions): Promise<Service> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const pidFile = join(dataDir, 'redis.pid');
  const configuration = join(dataDir, 'redis.conf');
  await endLeftOver(configuration, pidFile);
  const port = wanted ?? (await freePort());
  const lines = {
    port: String(port),
    bind: '127.0.0.1',
    dir: JSON.stringify(dataDir),
    pidfile: JSON.stringify(pidFile),
    requirepass: password,
    'maxmemory-policy': 'noeviction',
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '""',
    // Keeps the configuration's path in the command line, by which a left-over is told from a stranger.
    'set-proc-title': 'no',
    ...settings,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name} ${value}\n`);
  writeFileSync(configuration, text.join(''), { mode: 0o600 });

  const log = openSync(logFile, 'a', 0o600);
  const guarded = await startGuarded({
    command: program,
    args: [configuration],
    signal: 'TERM',
    logFd: log,
    cwd: dataDir,
  }).finally(() => closeSync(log));
  writeFileSync(pidFile, String(guarded.pid));

  let ended = false;
  void guarded.exited.then(() => (ended = true));
  const answers = async (): Promise<boolean> =>
    ended || (await redisCommand(port, password, 'PING').catch(() => '')) === '+PONG';
  if (!(await until(answers, START_TIMEOUT_MS)) || ended) {
    await guarded.stop();
    throw new StartProblem(`Redis did not start. The reason is at the end of ${logFile}.`);
  }
  return {
    ...guarded,
    port,
    url: `redis://:${password}@127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => guarded.stop(),
  };
}
