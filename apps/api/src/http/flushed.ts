import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Whether the answer was written out to an unbroken socket. Call it before the answer is sent. False when the
 * connection closed first: nothing has been collected then (9. Protocols, 16).
 */
export function flushed(reply: FastifyReply): Promise<boolean> {
  const { raw, request } = reply;
  // The response forgets its socket when it finishes; the request keeps it.
  const { socket } = request.raw;
  return new Promise((resolve) => {
    if (raw.closed || socket.destroyed) resolve(false);
    raw.once('finish', () => resolve(!socket.destroyed && !socket.errored));
    raw.once('close', () => resolve(false));
    raw.once('error', () => resolve(false));
  });
}

/** Aborts when the client goes away before it was answered. */
export function disconnected(request: FastifyRequest): AbortSignal {
  const gone = new AbortController();
  const { raw } = request;
  const look = (): void => {
    if (raw.socket.destroyed) gone.abort();
  };
  look();
  // A request also closes when it was answered; the socket of a client that stays is open then.
  raw.once('close', look);
  return gone.signal;
}
