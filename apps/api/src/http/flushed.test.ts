import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { disconnected, flushed } from './flushed.js';

const ASK = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

describe('a connection', () => {
  let server: FastifyInstance;
  let handler: Handler;
  let port: number;
  const clients: Socket[] = [];

  beforeEach(async () => {
    server = fastify({ forceCloseConnections: true });
    server.get('/', (request, reply) => handler(request, reply));
    await server.listen({ host: '127.0.0.1', port: 0 });
    port = (server.server.address() as AddressInfo).port;
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await server.close();
  });

  function ask(): Socket {
    const client = connect(port, '127.0.0.1');
    client.on('error', () => undefined);
    client.write(ASK);
    clients.push(client);
    return client;
  }

  it('that holds until the answer is out says so, and is not gone', async () => {
    const seen = new Promise<[boolean, AbortSignal]>((resolve) => {
      handler = (_request, reply) => {
        const gone = disconnected(reply);
        void flushed(reply).then((written) => resolve([written, gone]));
        return { text: 'x'.repeat(100_000) };
      };
    });
    const client = ask();
    const [written, gone] = await seen;
    expect(written).toBe(true);
    const next = new Promise<void>((resolve) => {
      handler = () => {
        resolve();
        return {};
      };
    });
    client.write(ASK);
    await next;
    expect(gone.aborted).toBe(false);
  });

  it('that breaks while nothing was answered aborts, and the answer counts as not written', async () => {
    // Wrapped, for a reply is itself a promise of the answer.
    const asked = new Promise<[FastifyReply]>((resolve) => {
      handler = (_request, reply) => {
        resolve([reply]);
        return reply;
      };
    });
    const client = ask();
    const [reply] = await asked;
    const gone = disconnected(reply);
    expect(gone.aborted).toBe(false);
    client.destroy();
    await once(gone, 'abort');
    expect(disconnected(reply).aborted).toBe(true);
    const written = flushed(reply);
    void reply.send({});
    expect(await written).toBe(false);
  });

  it('that breaks in the middle of the answer has not got it', async () => {
    const written = new Promise<boolean>((resolve) => {
      handler = (_request, reply) => {
        void flushed(reply).then(resolve);
        return { text: 'x'.repeat(50_000_000) };
      };
    });
    const client = ask();
    await once(client, 'data');
    client.destroy();
    expect(await written).toBe(false);
  });
});
