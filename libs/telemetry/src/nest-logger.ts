import type { Logger } from './logger.js';

/**
 * Takes Nest's own messages into the process's log, under Nest's context. It has the shape of Nest's LoggerService,
 * which libraries may not import.
 */
export class NestLogger {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.#logger.debug({ context: contextOf(rest) }, String(message));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.#logger.warn({ context: contextOf(rest) }, String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    const err = message instanceof Error ? message : undefined;
    this.#logger.error({ context: contextOf(rest), err }, String(message));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.error(message, ...rest);
  }
}

/** Nest passes the name of the class that logs as the last argument. */
function contextOf(rest: readonly unknown[]): string | undefined {
  const last = rest.at(-1);
  return typeof last === 'string' ? last : undefined;
}
