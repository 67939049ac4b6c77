import 'reflect-metadata';
import { ConfigError, loadWorkerConfig } from '#libs/config';
import { createLogger, stopTelemetry } from '#libs/telemetry';
import { runWorker } from './worker.js';

/** Beyond the grace time of the cells, in ms; then a shutdown counts as stuck. */
const LAST_RESORT_MS = 15_000;

async function main(): Promise<void> {
  const config = loadWorkerConfig();
  const logger = createLogger({ name: 'worker', level: config.logLevel });
  for (const warning of config.warnings) logger.warn(warning);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());
  stop.signal.addEventListener('abort', () => {
    setTimeout(() => process.exit(1), config.limits.drainMs + LAST_RESORT_MS).unref();
  });
  try {
    await runWorker(config, logger, stop.signal);
  } catch (err) {
    logger.fatal({ err }, 'the worker ended');
    process.exitCode = 1;
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref();
  }
  await stopTelemetry();
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
