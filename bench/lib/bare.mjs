import { fork } from 'node:child_process';
import { Queue, QueueEvents } from 'bullmq';

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
      await job.waitUntilFinished(events);
    },
    async stop() {
      await events.close();
      await queue.close();
      child.disconnect();
    },
  };
}
