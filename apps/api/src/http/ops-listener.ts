import { type RequestListener, type Server, createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { answerClientError } from './client-error.js';
import type { OpsRequests } from './ops-requests.js';

/** The second listener, for the operator: the same routes, told apart by where a request came in. */
export class OpsListener implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async start(
    address: { host: string; port: number },
    requests: OpsRequests,
    handle: RequestListener,
  ): Promise<OpsListener> {
    const server = createServer((request, response) => {
      requests.add(request);
      handle(request, response);
    });
    server.on('clientError', answerClientError);
    server.listen(address);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new OpsListener(server, `http://${address.host.includes(':') ? `[${address.host}]` : address.host}:${port}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
  }
}
