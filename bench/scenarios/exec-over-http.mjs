import { Agent } from 'node:http';
import { startBare } from '../lib/bare.mjs';
import { execSource } from '../lib/http.mjs';
import { startCellar, startServices } from '../lib/services.mjs';
import { ratio, summary, timed } from '../lib/stats.mjs';

const WARM_UP = 300;
const SAMPLES = 1_500;
const CLIENTS = 64;
const BURST = 6_000;

/** `POST exec` of a trivial script over HTTP against a bare BullMQ round trip, interleaved; then 64 clients at once. */
export async function execOverHttp() {
  const services = await startServices();
  try {
    const cellar = await startCellar(services);
    const bare = await startBare(services.redisUrl);
    const one = new Agent({ keepAlive: true, maxSockets: 1 });
    const exec = async (agent) => {
      const { state } = await execSource(agent, `${cellar.url}/v1/conversations/bench/exec`, cellar.key, "text('hi')");
      if (state !== 'completed') throw new Error(`a cell is ${state}`);
    };
    for (let i = 0; i < WARM_UP; i++) {
      await exec(one);
      await bare.roundTrip();
    }
    const ours = [];
    const theirs = [];
    for (let i = 0; i < SAMPLES; i++) {
      ours.push(await timed(() => exec(one)));
      theirs.push(await timed(() => bare.roundTrip()));
    }
    await bare.stop();
    const many = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const burstMs = await timed(() => inParallel(CLIENTS, BURST, () => exec(many)));
    await cellar.stop();
    const crowd = await startBare(services.redisUrl, CLIENTS);
    const bareMs = await timed(() => inParallel(CLIENTS, BURST, () => crowd.roundTrip()));
    await crowd.stop();
    one.destroy();
    many.destroy();
    const rows = { exec: summary(ours), bare: summary(theirs) };
    return {
      'POST exec (ms)': rows.exec,
      'bare BullMQ round trip (ms)': rows.bare,
      'exec / bare': ratio(rows.exec, rows.bare),
      'cells per second, 64 clients': { cellar: perSecond(burstMs), bare: perSecond(bareMs), cells: BURST },
    };
  } finally {
    await services.stop();
  }
}

function perSecond(ms) {
  return Math.round((BURST / ms) * 1_000);
}

async function inParallel(clients, total, work) {
  let left = total;
  const client = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: clients }, client));
}
