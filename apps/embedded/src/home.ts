import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { commandLineOf, isAlive } from './services/processes.js';
import { StartProblem } from './start-problem.js';

const NEEDED_BYTES = 300 * 1024 * 1024;

/** What other programs find in dev.json: where Cellar is, and how to speak to it. */
export interface DevFile {
  url: string;
  apiKey: string;
  adminKey: string;
  pids: { api: number; workers: number[] };
}

/** The folder that holds everything of one embedded Cellar. */
export interface Home extends Disposable {
  readonly path: string;
  /** Where a part keeps its files. */
  file(name: string): string;
  writeDevFile(content: DevFile): void;
}

/** Writes a file that only we may read, so that a reader sees all of it or the one before. */
export function writePrivate(file: string, content: unknown): void {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}

/** The owner that a lock file names: it lives, and is a start like this one and not a stranger with its number. */
function ownerOf(lock: string): number | undefined {
  try {
    const pid = z.object({ pid: z.int().positive() }).parse(JSON.parse(readFileSync(lock, 'utf8'))).pid;
    return isAlive(pid) && commandLineOf(pid).includes('bootstrap.mjs') ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Takes the lock, or says who has it. A file that appears complete by `link` leaves no moment to read half of one. */
function lockHome(path: string): string {
  const lock = join(path, 'lock.json');
  const mine = `${lock}.${process.pid}`;
  writePrivate(mine, { pid: process.pid });
  try {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      try {
        linkSync(mine, lock);
        return lock;
      } catch {
        const owner = ownerOf(lock);
        if (owner !== undefined) {
          throw new StartProblem(
            `Cellar is already running in ${path} (process ${owner}). Use that one, stop it with: kill ${owner}\nor start another in a folder of its own: CELLAR_HOME=.cellar-2 PORT=3001 npm start`,
          );
        }
        rmSync(lock, { force: true });
      }
    }
    throw new StartProblem(`The lock ${lock} could not be taken. If no Cellar runs in that folder, delete the file.`);
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Level by level: Node's own recursive mkdir never returns where a folder cannot be made, such as below /proc. */
function makeLevels(path: string): void {
  if (existsSync(path)) return;
  makeLevels(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

function makeFolder(path: string): void {
  try {
    makeLevels(path);
    writeFileSync(join(path, '.writable'), '');
    rmSync(join(path, '.writable'));
  } catch (cause) {
    throw new StartProblem(`The folder ${path} cannot be written. Choose another: CELLAR_HOME=/some/folder npm start`, {
      cause,
    });
  }
  const { bavail, bsize } = statfsSync(path);
  if (bavail * bsize < NEEDED_BYTES) {
    throw new StartProblem(
      `The disk of ${path} has less than 300 MiB free. Free some space, or choose another folder: CELLAR_HOME=/some/folder npm start`,
    );
  }
}

/** Makes the folder if need be and takes it for this process alone. Disposing gives it back. @throws StartProblem */
export function openHome(path: string): Home {
  makeFolder(path);
  const lock = lockHome(path);
  const devFile = join(path, 'dev.json');
  rmSync(devFile, { force: true });
  mkdirSync(join(path, 'logs'), { recursive: true });
  return {
    path,
    file: (name) => join(path, name),
    writeDevFile: (content) => writePrivate(devFile, content),
    [Symbol.dispose]: () => {
      rmSync(devFile, { force: true });
      rmSync(lock, { force: true });
    },
  };
}
