import { ConfigError, loadEmbeddedConfig } from '#libs/config';
import { watchBuild } from './dev.js';
import { startEmbedded } from './embedded.js';
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

/** Starts everything, waits for a signal, stops everything. */
export async function main({ env, root, dev }: MainOptions): Promise<void> {
  const stop = new AbortController();
  const told = new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  try {
    const config = loadEmbeddedConfig(env);
    for (const warning of config.warnings) progress.line(warning);
    await using embedded = await startEmbedded({ config, env, root, progress, showLogs: dev, signal: stop.signal });
    await using _watch = dev ? watchBuild(root, () => embedded.apps.restart()) : undefined;
    await told;
    progress.line('\nStopping');
  } catch (error) {
    if (stop.signal.aborted) return;
    const expected = error instanceof StartProblem || error instanceof ConfigError;
    console.error(expected ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}
