import { fork } from 'node:child_process';
import { Queue, QueueEvents } from 'bullmq';

/** QueueEvents lose an event now and then; a round trip that is not told of its end is given up after this, in ms. */
const LOST_MS = 5_000;

/** The bare round trip: add -> worker in another process -> QueueEvents. */
export async function startBare(redisUrl, concurrency = 1) {
  const child = fork(new URL('bare-worker.mjs', import.meta.url), {
    env: { ...process.env, REDIS_URL: redisUrl, CONCURRENCY: String(concurrency) },
  });
  await new Promise((resolve) => child.once('message', resolve));
  const queue = new Queue('bare', { connection: { url: redisUrl } });
  queue.setMaxListeners(0);
  // One listener per client that waits.
  const events = new QueueEvents('bare', { connection: { url: redisUrl } });
  await events.waitUntilReady();
  let n = 0;
  return {
    async roundTrip() {
      const jobId = `b${process.pid}-${n++}`;
      const job = await queue.add('bare', {}, { jobId, removeOnComplete: { count: 1_000 } });
      await job.waitUntilFinished(events, LOST_MS).catch(() => undefined);
    },
    async stop() {
      await events.close();
      await queue.close();
      child.disconnect();
    },
  };
}
