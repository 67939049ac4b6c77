import { isSpanContextValid, trace } from '@opentelemetry/api';
import { destination as openDestination, pino, type DestinationStream, type Logger } from 'pino';
import { currentCorrelationId } from './correlation.js';
import { redact, redactText, serializers } from './redaction.js';

export type { Logger } from 'pino';

/** How a process logs. */
export interface LoggerOptions {
  /** The process: `cellar-api`, `cellar-worker`. */
  name: string;
  /** The least severe level that is written: one of pino's, or `silent`. */
  level: string;
  /** Where lines go; standard output unless given. */
  destination?: DestinationStream;
}

/**
 * The process's logger: one JSON object per line, with the correlation id and the trace that are in force when the
 * line is written. Pass errors as `err`. Secrets are taken out by the names of fields, and out of all text by their form.
 */
export function createLogger({ name, level, destination }: LoggerOptions): Logger {
  const options = {
    name,
    level,
    redact,
    serializers,
    mixin: currentIds,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: redactText },
  };
  // Writes do not block the event loop; pino flushes what is left when the process exits.
  return pino(options, destination ?? openDestination({ sync: false }));
}

function currentIds(): Record<string, string> {
  const ids: Record<string, string> = {};
  const correlationId = currentCorrelationId();
  if (correlationId !== undefined) ids.correlationId = correlationId;
  const span = trace.getActiveSpan()?.spanContext();
  if (span !== undefined && isSpanContextValid(span)) {
    ids.traceId = span.traceId;
    ids.spanId = span.spanId;
  }
  return ids;
}
