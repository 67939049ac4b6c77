import { parentPort, workerData } from 'node:worker_threads';
import { parseToThread, type ThreadSetup } from '../protocol.js';
import { startThread } from './thread.js';

const port = parentPort;
if (port === null) throw new Error('This file is the entry of a sandbox thread; start it through createSandboxPool.');
const setup = workerData as ThreadSetup;

const thread = await startThread(setup, (message, handedOver) => port.postMessage(message, handedOver));
if (thread !== undefined) {
  port.on('message', (message: unknown) => {
    const known = parseToThread(message);
    if (known === undefined) throw new Error('a message that is not in the protocol');
    void thread.receive(known);
  });
}
