import { packView } from '../../dist/libs/script/src/index.js';

/** A cell in the worker's pool, for a benchmark; calls of the tool `add` are answered at once. */
export async function runCell(sandbox, source, heard = {}) {
  const slot = await sandbox.acquire();
  const cell = slot.start(
    { ...basis, dialect: 'exec', source, values: new Map() },
    {
      output: heard.output ?? nothing,
      boundary: nothing,
      call: ({ callId, argumentsJson }) => {
        if (heard.call) heard.call(callId, cell);
        else {
          const { a, b } = JSON.parse(argumentsJson);
          cell.settle(callId, { ok: true, json: JSON.stringify({ sum: a + b }) });
        }
      },
      note: nothing,
      waiting: heard.waiting ?? nothing,
    },
  );
  const { state, failure } = await cell.outcome;
  if (state !== 'completed') throw new Error(`the cell ended as ${state}: ${JSON.stringify(failure)}`);
}

const nothing = () => undefined;

const add = { name: 'add', description: 'Adds a and b.', inputSchema: {}, exposure: 'core', delivery: {} };

const basis = {
  cellId: 'c_0000000000000000',
  tenantId: 't_bench',
  limits: { cpuMs: 60_000, stretchCpuMs: 5_000, wallInMs: 3_600_000 },
  view: { memory: packView([{ toolset: 'kit', text: JSON.stringify({ tools: [add] }) }]) },
};
