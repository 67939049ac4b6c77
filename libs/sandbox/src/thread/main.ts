import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadSetup, ToThread } from '../protocol.js';
import { startThread } from './thread.js';

const port = parentPort;
if (port === null) throw new Error('This file is the entry of a sandbox thread; start it through createSandboxPool.');
const setup = workerData as ThreadSetup;

const thread = await startThread(setup, (message) => port.postMessage(message));
if (thread !== undefined) port.on('message', (message: ToThread) => void thread.receive(message));
