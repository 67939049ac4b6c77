import { ConfigError, loadEmbeddedConfig } from '#libs/config';
import { watchBuild } from './dev.js';
import { startEmbedded, type Embedded } from './embedded.js';
import { progress } from './progress.js';
import { StartProblem } from './start-problem.js';

/** What the bootstrap hands over. */
export interface MainOptions {
  env: NodeJS.ProcessEnv;
  /** The clone's folder. */
  root: string;
  /** Compile what changes, restart the apps, and show their logs. */
  dev: boolean;
}

const LOOK_AT_PARENT_MS = 1_000;

/** Calls back when npm, which waits for us, is gone without having passed a signal on. */
function watchNpm(env: NodeJS.ProcessEnv, onGone: () => void): void {
  if (env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && onGone(), LOOK_AT_PARENT_MS).unref();
}

/** npm passes a signal on that the terminal has sent to us as well; only later ones are a second wish. */
const SAME_SIGNAL_MS = 1_000;

/** Starts everything, waits for a signal, stops everything; a second signal gives running cells no more time. */
export async function main({ env, root, dev }: MainOptions): Promise<void> {
  const stop = new AbortController();
  const told = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  let embedded: Embedded | undefined;
  let toldAt = Infinity;
  const tell = (): void => {
    if (performance.now() - toldAt > SAME_SIGNAL_MS) void embedded?.apps.stop(0);
    toldAt = Math.min(toldAt, performance.now());
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, tell);
  watchNpm(env, () => stop.abort());
  try {
    const config = loadEmbeddedConfig(env);
    for (const warning of config.warnings) progress.line(warning);
    await using running = await startEmbedded({ config, env, root, progress, showLogs: dev, signal: stop.signal });
    embedded = running;
    await using _watch = dev ? watchBuild(root, () => running.apps.restart()) : undefined;
    await told;
    progress.line('\nStopping (once more to give running cells no time)');
  } catch (error) {
    if (stop.signal.aborted) return;
    const expected = error instanceof StartProblem || error instanceof ConfigError;
    console.error(expected ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
