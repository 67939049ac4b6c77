import type { WorkerConfig } from '#libs/config';
import type { SandboxRunner } from '#libs/sandbox';
import { METRICS_CONTENT_TYPE, registerGauge, renderMetrics } from '#libs/telemetry';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { once } from 'node:events';

/** What the health of a worker is made of. */
export interface HealthParts {
  /** Resolve when the service answers. */
  pings: Readonly<Record<string, () => Promise<void>>>;
  /** Aborted once the worker drains. */
  draining: AbortSignal;
  sandbox: SandboxRunner;
}

/** `/health/live`, `/health/ready` and `/metrics` of a worker, on a port of their own, where one is configured. */
export class HealthServer implements AsyncDisposable {
  readonly #server: Server | undefined;

  private constructor(server: Server | undefined) {
    this.#server = server;
  }

  static async start({ host, port }: WorkerConfig, parts: HealthParts): Promise<HealthServer> {
    registerGauge('sandbox_threads', 'Script threads by what they are doing', () => {
      const { threads: _all, hibernatedBytes: _bytes, ...states } = parts.sandbox.stats();
      return Object.entries(states).map(([state, value]) => ({ value, attributes: { state } }));
    });
    registerGauge('sandbox_hibernated_bytes', 'Memory of the scripts that wait without a thread', () => [
      { value: parts.sandbox.stats().hibernatedBytes },
    ]);
    if (port === undefined) return new HealthServer(undefined);
    const server = createServer((request, response) => void answer(parts, request, response));
    server.listen(port, host);
    await once(server, 'listening');
    return new HealthServer(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

async function answer(parts: HealthParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  switch (request.url) {
    case '/health/live':
      return json(response, 200, { status: 'ok' });
    case '/health/ready': {
      const away = await failing(parts);
      return json(response, away.length === 0 ? 200 : 503, { status: away.length === 0 ? 'ok' : 'unavailable', away });
    }
    case '/metrics':
      response.writeHead(200, { 'content-type': METRICS_CONTENT_TYPE }).end(await renderMetrics());
      return;
    default:
      return json(response, 404, { status: 'not_found' });
  }
}

async function failing({ pings, draining }: HealthParts): Promise<string[]> {
  const names = Object.keys(pings);
  const results = await Promise.allSettled(Object.values(pings).map((ping) => ping()));
  const away = names.filter((_, i) => results[i]?.status === 'rejected');
  return draining.aborted ? [...away, 'draining'] : away;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
