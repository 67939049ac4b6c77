export { withCorrelation } from './correlation.js';
export { Events, type CellFacts, type Dependency, type SweepKind } from './events.js';
export { createLogger, type Logger, type LoggerOptions } from './logger.js';
export { METRICS_CONTENT_TYPE, registerGauge, renderMetrics, type GaugeReading } from './metrics.js';
export { NestLogger } from './nest-logger.js';
export { contextFromHeaders, withSpan, type SpanOptions } from './spans.js';
export { startTelemetry, stopTelemetry } from './tracing.js';
