import type { FastifyReply } from 'fastify';

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

/**
 * Aborts when the client goes away before it was answered. The response tells it, not the request: that one closes as
 * soon as its body was read.
 */
export function disconnected({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const look = (): void => {
    if (!raw.writableFinished) gone.abort();
  };
  if (raw.closed || raw.req.socket.destroyed) look();
  raw.once('close', look);
  return gone.signal;
}
