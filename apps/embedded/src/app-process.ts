import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Running } from './keep-alive.js';

/** One of the two apps, as a process of its own. */
export interface AppOptions {
  app: 'api' | 'worker';
  /** The clone's folder; what runs is in its `dist`. */
  root: string;
  env: NodeJS.ProcessEnv;
  /** Where its messages go; undefined: to ours. */
  logFile: string | undefined;
}

/** Starts an app. It is in a process group of its own, so that Ctrl-C reaches only us and the order of stopping is ours. */
export async function startApp({ app, root, env, logFile }: AppOptions): Promise<Running> {
  const dist = join(root, 'dist', 'apps');
  const main = join(dist, app, 'src', 'main.js');
  const preloads = [join(dist, 'embedded', 'src', 'follow-parent.js'), join(dist, app, 'src', 'telemetry.js')];
  const log = logFile === undefined ? undefined : openSync(logFile, 'a', 0o600);
  const out = log ?? 'inherit';
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', ...preloads.flatMap((file) => ['--import', file]), main],
    {
      cwd: root,
      env,
      detached: true,
      stdio: ['ignore', out, out, 'ipc'],
    },
  );
  if (log !== undefined) closeSync(log);
  const exited = new Promise<number>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL'])),
  );
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
  return {
    pid,
    exited,
    stop: async (graceMs = 20_000) => {
      child.kill('SIGTERM');
      const last = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(last);
    },
  };
}
