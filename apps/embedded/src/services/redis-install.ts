import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { StartProblem } from '../start-problem.js';

const PROGRAMS = ['redis-server', 'valkey-server'];
const LEAST_VERSION = [6, 2] as const;

/** How each package manager installs Redis, and whether it asks for root. */
const MANAGERS = [
  {
    program: 'apt-get',
    commands: [['update'], ['install', '-y', '--no-install-recommends', 'redis-server']],
    root: true,
  },
  { program: 'dnf', commands: [['install', '-y', 'redis']], root: true },
  { program: 'yum', commands: [['install', '-y', 'redis']], root: true },
  { program: 'apk', commands: [['add', 'redis']], root: true },
  { program: 'zypper', commands: [['--non-interactive', 'install', 'redis']], root: true },
  { program: 'pacman', commands: [['-Sy', '--noconfirm', 'redis']], root: true },
  { program: 'brew', commands: [['install', 'redis']], root: false },
];

function onPath(program: string, path: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    const file = join(folder, program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

function find(path: string): string | undefined {
  return PROGRAMS.map((program) => onPath(program, path)).find((file) => file !== undefined);
}

/** Debian starts a service when it installs one, unless this file says no. Ours is there only for the time being. */
const POLICY_FILE = '/usr/sbin/policy-rc.d';

function install(file: string, commands: string[][]): string | undefined {
  const ownPolicy = basename(file) === 'apt-get' && !existsSync(POLICY_FILE);
  if (ownPolicy) writeFileSync(POLICY_FILE, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    for (const args of commands) {
      const { status, stderr, error } = spawnSync(file, args, {
        encoding: 'utf8',
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      if (status !== 0)
        return `${basename(file)} ${args.join(' ')}: ${(error?.message ?? stderr).trim().split('\n').slice(-2).join(' ')}`;
    }
    return undefined;
  } finally {
    if (ownPolicy) rmSync(POLICY_FILE, { force: true });
  }
}

function checkVersion(file: string): void {
  const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' });
  const [, major, minor] = /v=(\d+)\.(\d+)/.exec(stdout) ?? [];
  if (major === undefined || minor === undefined) return;
  const [leastMajor, leastMinor] = LEAST_VERSION;
  if (Number(major) > leastMajor || (Number(major) === leastMajor && Number(minor) >= leastMinor)) return;
  throw new StartProblem(
    `${file} is version ${major}.${minor}; Cellar needs Redis ${LEAST_VERSION.join('.')} or newer. Upgrade it, or set REDIS_URL to a newer one.`,
  );
}

/** What `redisProgram` looks at; given by the caller so that a machine without Redis can be tested. */
export interface Machine {
  /** The PATH to search. */
  path: string;
  isRoot: boolean;
  /** Told before something is installed, since that takes a while. */
  report: (line: string) => void;
}

/**
 * The path of a Redis server. When the machine has none it is installed by the system's package manager, if we may.
 *
 * @throws StartProblem that says how to get one.
 */
export function redisProgram({ path, isRoot, report }: Machine): string {
  const there = find(path);
  if (there !== undefined) {
    checkVersion(there);
    return there;
  }
  const manager = MANAGERS.find(({ program }) => onPath(program, path) !== undefined);
  const managerFile = manager && onPath(manager.program, path);
  if (manager === undefined || managerFile === undefined) {
    throw new StartProblem(
      'There is no redis-server on this machine, and no package manager that could install it. Install Redis 6.2 or newer, or set REDIS_URL to one that runs already.',
    );
  }
  const byHand = `${manager.root ? 'sudo ' : ''}${manager.program} ${manager.commands.at(-1)?.join(' ') ?? ''}`;
  if (manager.root && !isRoot) {
    throw new StartProblem(
      `There is no redis-server on this machine, and only root may install it. Run: ${byHand}\nor set REDIS_URL to a Redis that runs already.`,
    );
  }
  report(`Installing Redis (${manager.program})`);
  const fault = install(managerFile, manager.commands);
  const installed = find(path);
  if (installed === undefined) {
    throw new StartProblem(
      `There is no redis-server on this machine, and installing it failed${fault === undefined ? '' : ` (${fault})`}. Run: ${byHand}\nor set REDIS_URL to a Redis that runs already.`,
    );
  }
  checkVersion(installed);
  return installed;
}
