import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { redisProgram } from './redis-install.js';

/** A folder that is the whole PATH of a machine, with programs that are shell scripts. */
function machine(programs: Record<string, string>): string {
  const path = mkdtempSync(join(tmpdir(), 'cellar-path-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(path, name), `#!/bin/sh\n${script.replaceAll('HERE', path)}\n`, { mode: 0o755 });
  }
  return path;
}

const REDIS_7 = 'echo "Redis server v=7.0.15 sha=0"';
const report = (): void => undefined;

test('a server on the PATH is used as it is', () => {
  const path = machine({ 'redis-server': REDIS_7 });
  expect(redisProgram({ path: `/nowhere:${path}`, isRoot: false, report })).toBe(join(path, 'redis-server'));
});

test('Valkey does as well', () => {
  const path = machine({ 'valkey-server': 'echo "Valkey server v=8.0.1 sha=0"' });
  expect(redisProgram({ path, isRoot: false, report })).toBe(join(path, 'valkey-server'));
});

test('a server that is too old is refused with its version', () => {
  const path = machine({ 'redis-server': 'echo "Redis server v=5.0.14 sha=0"' });
  expect(() => redisProgram({ path, isRoot: false, report })).toThrow(/is version 5.0; Cellar needs Redis 6.2/);
});

test('without a server and without a package manager, REDIS_URL is the way out', () => {
  const path = machine({});
  expect(() => redisProgram({ path, isRoot: true, report })).toThrow(/no package manager .* set REDIS_URL/);
});

test('without the right to install, the command to run is told', () => {
  const path = machine({ 'apt-get': 'touch HERE/called' });
  expect(() => redisProgram({ path, isRoot: false, report })).toThrow(/Run: sudo apt-get install -y .*redis-server/);
  expect(existsSync(join(path, 'called'))).toBe(false);
});

test('root gets it installed, and is told that it is going on', () => {
  const install = `if [ "$1" = add ]; then printf '#!/bin/sh\\n${REDIS_7}\\n' > HERE/redis-server; chmod +x HERE/redis-server; fi`;
  const path = `${machine({ apk: install })}:/usr/bin:/bin`;
  const lines: string[] = [];
  const found = redisProgram({ path: path.split(':')[0] ?? '', isRoot: true, report: (line) => lines.push(line) });
  expect(found).toBe(join(path.split(':')[0] ?? '', 'redis-server'));
  expect(lines).toEqual(['Installing Redis (apk)']);
});

test('an installation that fails says why', () => {
  const path = machine({ apk: 'echo "ERROR: no such network" >&2; exit 1' });
  expect(() => redisProgram({ path, isRoot: true, report })).toThrow(/installing it failed .*no such network/);
});
