// Builds everything: the database client from the schema, then all projects. Used by npm run build, npm start and
// npm test; needs nothing but node_modules.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program of node_modules and says whether it succeeded; what it says is shown when it did not. */
function run(packageBin, args, env = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'node_modules', packageBin), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.stderr.write(stdout + stderr);
  return status === 0;
}

/** Generates the client, unless it is newer than the schema. */
export function generate() {
  const schema = join(root, 'prisma/schema.prisma');
  const client = join(root, 'libs/persistence/src/generated/client.ts');
  if (existsSync(client) && statSync(client).mtimeMs > statSync(schema).mtimeMs) return true;
  // Prisma looks for its native engine, which it would download, before it generates with WebAssembly. Any program
  // that exists satisfies it.
  return run('prisma/build/index.js', ['generate'], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  });
}

/** Builds; says whether that succeeded. */
export function build() {
  return generate() && run('typescript/bin/tsc', ['-b']);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href && !build()) process.exitCode = 1;
