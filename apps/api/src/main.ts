import 'reflect-metadata';
import { ConfigError, loadApiConfig } from '#libs/config';
import { createLogger, stopTelemetry } from '#libs/telemetry';
import { Api } from './api.js';

/** Beyond the time that running requests are given, in ms; then a shutdown counts as stuck. */
const LAST_RESORT_MS = 15_000;

async function main(): Promise<void> {
  const config = loadApiConfig();
  const logger = createLogger({ name: 'cellar-api', level: config.logLevel });
  for (const warning of config.warnings) logger.warn(warning);
  const told = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
  const api = await Api.start(config, logger);
  logger.info({ url: api.url, opsUrl: api.opsUrl }, 'listening');
  await told;
  // Connections that cannot be ended must not keep the process; it exits with what exitCode says.
  setTimeout(() => process.exit(), config.limits.drainMs + LAST_RESORT_MS).unref();
  await api[Symbol.asyncDispose]();
  await stopTelemetry();
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exitCode = 1;
  setTimeout(() => process.exit(), LAST_RESORT_MS).unref();
});
