import { loadTelemetryConfig } from '#libs/config';
import { startTelemetry } from '#libs/telemetry';

// Loaded by `--import`, before anything that is to be traced.
await startTelemetry('cellar-api', { enabled: loadTelemetryConfig().tracing });
