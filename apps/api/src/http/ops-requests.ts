import type { IncomingMessage } from 'node:http';

/**
 * Which listener a request came through. With a port for the operator, `/metrics` and `/admin` exist there only, and
 * nothing but those and health does; without one they share the API's port (9. Protocols, 23).
 */
export class OpsRequests {
  readonly #separate: boolean;
  readonly #requests = new WeakSet<IncomingMessage>();

  constructor(separate: boolean) {
    this.#separate = separate;
  }

  /** Marks a request as one that came through the operator's port. */
  add(request: IncomingMessage): void {
    this.#requests.add(request);
  }

  /** Whether a route exists for a request. */
  serves(route: string, request: IncomingMessage): boolean {
    if (!this.#separate || route.startsWith('/health/')) return true;
    return isOpsRoute(route) === this.#requests.has(request);
  }
}

function isOpsRoute(route: string): boolean {
  return route === '/metrics' || route.startsWith('/admin/');
}
