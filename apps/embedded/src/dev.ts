import { spawn } from 'node:child_process';
import { join } from 'node:path';

/**
 * Compiles what changes, as long as it is not disposed of, and calls `onBuilt` after each build without errors but
 * the first, which found everything built.
 */
export function watchBuild(root: string, onBuilt: () => void): AsyncDisposable {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const child = spawn(process.execPath, [compiler, '-b', '-w', '--preserveWatchOutput'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let first = true;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text);
    if (!text.includes('Found 0 errors')) return;
    if (!first) onBuilt();
    first = false;
  });
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await exited;
    },
  };
}
