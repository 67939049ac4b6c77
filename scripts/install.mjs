// What must hold before anything else runs: a Node that is new enough, room on the disk, installed packages. Plain
// JavaScript without dependencies, since it runs before there are any.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const MEBIBYTE = 1024 * 1024;
const PACKAGES_MIB = 1_000;
const DATA_MIB = 300;

/** What a person can put right; shown without a stack. */
export class Problem extends Error {}

/** @param {string} version the running Node's, such as 20.20.2 */
export function checkNode(version = process.versions.node) {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const least = engines.node.replace(/^>=/, '');
  const [major, minor] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = least.split('.').map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new Problem(
    `Cellar needs Node ${leastMajor}.${leastMinor} or newer, and this is Node ${version}. Install a newer one (nodejs.org) and try again.`,
  );
}

/** @param {string} folder on the disk in question */
export function checkSpace(folder, neededMib, purpose) {
  const { bavail, bsize } = statfsSync(folder);
  const freeMib = Math.floor((bavail * bsize) / MEBIBYTE);
  if (freeMib >= neededMib) return;
  throw new Problem(
    `There are ${freeMib} MiB free on the disk of ${folder}; ${purpose} needs ${neededMib} MiB. Free some space and try again.`,
  );
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

/** Whether node_modules is what package-lock.json says: by our own mark, or npm's when npm was run by hand. */
function isInstalled() {
  const mark = join(root, 'node_modules/.cellar-installed');
  const npmMark = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(npmMark)) return false;
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lockHash()) return true;
  return statSync(npmMark).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs;
}

/** Installs the packages when they are missing or others than the lock file names. */
export function ensureInstalled() {
  if (isInstalled()) return;
  checkSpace(root, PACKAGES_MIB, 'installing the packages');
  console.log('Installing packages (npm ci; about a minute)');
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const { status, error } = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    : spawnSync('npm', args, {
        cwd: root,
        stdio: ['ignore', 'inherit', 'inherit'],
        shell: process.platform === 'win32',
      });
  if (error?.code === 'ENOENT')
    throw new Problem('npm is not on the PATH. It comes with Node: install Node from nodejs.org and try again.');
  if (status !== 0)
    throw new Problem(
      'npm ci failed; what it says is above. A registry that cannot be reached is the most frequent reason.',
    );
  writeFileSync(join(root, 'node_modules/.cellar-installed'), lockHash());
}

/** All of it, in order. */
export function prepare() {
  checkNode();
  checkSpace(root, DATA_MIB, 'Cellar');
  ensureInstalled();
}
