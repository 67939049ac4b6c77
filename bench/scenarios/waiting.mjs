import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { execSource, send } from '../lib/http.mjs';
import { startCellar, startServices } from '../lib/services.mjs';
import { summary, timed } from '../lib/stats.mjs';

const WAITING = 2_000;
const CLIENTS = 16;
const WARM_UP = 500;
const SAMPLES = 1_000;

const TOOL = {
  name: 'ask',
  description: 'Answers.',
  inputSchema: { type: 'object' },
  exposure: 'core',
  delivery: { kind: 'client' },
  timeoutMs: 3_600_000,
};

/** Many cells of one worker that wait in tool calls: their memory, and what a new cell takes meanwhile. */
export async function waiting() {
  const services = await startServices();
  try {
    const cellar = await startCellar(services, { WORKER_SLOTS: '4' });
    const { url, key, workerPid, metrics } = cellar;
    const at = (path) => `${url}/v1${path}`;
    await send('PUT', at('/toolsets/kit'), key, { tools: [TOOL] });
    await send('PUT', at('/conversations/bench'), key, { kind: 'direct', toolsets: [{ toolset: 'kit' }] });
    const one = new Agent({ keepAlive: true, maxSockets: 1 });
    const many = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const exec = (agent, source) => execSource(agent, at('/conversations/bench/exec'), key, source);
    const plain = async () => {
      const { state } = await exec(one, "text('hi')");
      if (state !== 'completed') throw new Error(`a cell is ${state}`);
    };
    for (let i = 0; i < WARM_UP; i++) await plain();
    const idle = [];
    for (let i = 0; i < SAMPLES; i++) idle.push(await timed(plain));

    const before = residentBytes(workerPid);
    const cells = [];
    await inParallel(WAITING, async (i) => {
      const { cellId, state, pendingCalls } = await exec(
        many,
        `const own = { i: ${i} }; text(own.i + Number(await tools.ask(own)))`,
      );
      if (state !== 'running' || pendingCalls.length !== 1) throw new Error(`a cell is ${state}`);
      cells.push({ i, cellId, callId: pendingCalls[0].callId });
    });
    const states = await metrics();
    const after = residentBytes(workerPid);
    const busy = [];
    for (let i = 0; i < SAMPLES; i++) busy.push(await timed(plain));

    shuffle(cells);
    await inParallel(WAITING, async (at_) => {
      const { i, cellId, callId } = cells[at_];
      const result = { content: [{ type: 'text', text: '1000000' }] };
      const { cell } = await send('POST', at('/conversations/bench/tool-results'), key, {
        results: [{ callId, result }],
        observe: { cell_id: cellId, yield_time_ms: 60_000 },
      });
      if (cell.state !== 'completed' || cell.content[1].text !== String(1_000_000 + i)) {
        throw new Error(`cell ${i} gave ${JSON.stringify(cell)}`);
      }
    });
    await cellar.stop();
    one.destroy();
    many.destroy();
    const rows = { idle: summary(idle), busy: summary(busy) };
    return {
      [`worker, ${WAITING} cells waiting`]: states,
      'resident memory per waiting cell (KiB)': Math.round((after - before) / WAITING / 1_024),
      'POST exec, worker idle (ms)': rows.idle,
      [`POST exec, ${WAITING} waiting (ms)`]: rows.busy,
      'waiting / idle, p50': Number((rows.busy.p50 / rows.idle.p50).toFixed(2)),
      'answered in random order, all right': WAITING,
    };
  } finally {
    await services.stop();
  }
}

function residentBytes(pid) {
  return 1_024 * Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

async function inParallel(total, work) {
  let next = 0;
  const client = async () => {
    while (next < total) await work(next++);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

function shuffle(list) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
}
