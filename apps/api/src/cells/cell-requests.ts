import type { FastifyReply } from 'fastify';
import { disconnected, flushed } from '../http/flushed.js';
import type { Answer, Caller } from './cells.service.js';

/** Who asks about cells, and when they go away. */
export function callerOf(tenantId: string, conversationId: string, reply: FastifyReply): Caller {
  return { tenantId, conversationId, disconnected: disconnected(reply) };
}

/** Once the answer is written out (or could not be), lets the cell know. */
export function giveWhenWritten(reply: FastifyReply, written: Answer['written']): void {
  void flushed(reply).then(written);
}
