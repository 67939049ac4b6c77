import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';

/** How a span is made. */
export interface SpanOptions {
  kind?: keyof typeof SpanKind;
  attributes?: Attributes;
  /** The context to continue, such as that of an incoming request; the active one unless given. */
  parent?: Context;
}

const tracer = trace.getTracer('cellar');

/** Runs something as one span of the current trace; a failure is recorded in it and thrown on. */
export async function withSpan<T>(name: string, options: SpanOptions, run: (span: Span) => Promise<T>): Promise<T> {
  const { kind = 'INTERNAL', attributes = {}, parent = context.active() } = options;
  return tracer.startActiveSpan(name, { kind: SpanKind[kind], attributes }, parent, async (span) => {
    try {
      return await run(span);
    } catch (thrown) {
      span.recordException(thrown instanceof Error ? thrown : String(thrown));
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw thrown;
    } finally {
      span.end();
    }
  });
}

/** The trace that a caller's headers continue (W3C `traceparent`); a new one when they name none. */
export function contextFromHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Context {
  return propagation.extract(context.active(), headers);
}
