import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from './home.js';
import { canEnter, postgresAccount, SHARED_FOLDER } from './services/postgres-files.js';

/**
 * Where Postgres keeps its data: in the home; or, when we are root and Postgres' own user cannot get into the home (a
 * clone under /root, say), in a folder beside the system's other state, to which a link in the home leads. The home
 * without the link was made anew, so what an earlier one of that path left behind is removed.
 */
export function postgresDataDir(home: Home): string {
  const inside = home.file('postgres');
  const entry = lstatSync(inside, { throwIfNoEntry: false });
  if (entry?.isSymbolicLink()) return readlinkSync(inside);
  const account = postgresAccount();
  if (account === undefined || entry?.isDirectory()) return inside;
  chmodSync(home.path, 0o711);
  if (canEnter(home.path, account)) return inside;
  chmodSync(home.path, 0o700);
  const outside = join(SHARED_FOLDER, createHash('sha256').update(home.path).digest('hex').slice(0, 16), 'postgres');
  rmSync(outside, { recursive: true, force: true });
  mkdirSync(join(outside, '..'), { recursive: true, mode: 0o755 });
  symlinkSync(outside, inside);
  return outside;
}
