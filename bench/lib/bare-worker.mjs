import { Worker } from 'bullmq';

// The peer of the end-to-end figure: a BullMQ worker in a process of its own that does nothing.
const worker = new Worker('bare', async () => ({}), {
  connection: { url: process.env.REDIS_URL, maxRetriesPerRequest: null },
  concurrency: Number(process.env.CONCURRENCY ?? 1),
});
await worker.waitUntilReady();
process.send('ready');
process.once('disconnect', () => process.exit(0));
