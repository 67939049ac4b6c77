import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CellResult, ToolResults } from '#libs/contracts';
import {
  type CellarClient,
  Cluster,
  type ConversationClient,
  clientTool,
  eventually,
  saying,
  testRedis,
  textsOf,
} from '../../libs/testing/src/index.js';
import { TcpGate } from './tcp-gate.js';

const TOOLS = { tools: [clientTool('ask'), clientTool('brief', { timeoutMs: 700 })] };
const said = (text: string) => saying(text).result;

async function tenantOf(cluster: Cluster): Promise<CellarClient> {
  const tenant = await cluster.tenant();
  await tenant.ok('PUT', '/v1/toolsets/kit', TOOLS);
  return tenant;
}
const bound = { kind: 'direct', toolsets: [{ toolset: 'kit' }] };

/** Posts results, and observes the cell further when there is one. */
function post(client: CellarClient, path: string, results: object[], more: object = {}): Promise<ToolResults> {
  return client.ok('POST', `${path}/tool-results`, { results, ...more });
}
const idsOf = (cell: CellResult): string[] => cell.pendingCalls.map(({ callId }) => callId);
const only = (cell: CellResult): string => idsOf(cell)[0] ?? 'none';

describe('client calls over two API processes and two workers', () => {
  let cluster: Cluster;
  let tenant: CellarClient;
  let conversation: ConversationClient;
  beforeAll(async () => {
    cluster = await Cluster.start({ apis: 2, workers: 2 });
    tenant = await tenantOf(cluster);
    conversation = await tenant.conversation(bound);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it('take their results at one process while the other observes', async () => {
    const cell = await conversation.exec('return await tools.ask({})');
    const observing = conversation.wait(cell.cellId, { yield_time_ms: 60_000 });
    const other = tenant.at(cluster.api(1));
    const { results } = await post(other, conversation.path, [{ callId: only(cell), result: said('from afar') }]);
    expect(results).toEqual([{ callId: only(cell), status: 'settled' }]);
    const end = await observing;
    expect(end.state).toBe('completed');
    expect(textsOf(end)).toEqual(['from afar']);
  });

  it('are settled once by fifty posts at two processes', async () => {
    const cell = await conversation.exec('return await tools.ask({})');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        post(tenant.at(cluster.api(i % 2)), conversation.path, [
          { callId: only(cell), result: said('same') },
          { callId: 'call_0000000000000000', result: said('nobody') },
        ]),
      ),
    );
    const statuses = answers.map(({ results }) => results[0]?.status);
    expect(statuses.filter((status) => status === 'settled')).toHaveLength(1);
    // After the end of the cell as well: the same result is the same result.
    expect(new Set(statuses)).toEqual(new Set(['settled', 'duplicate']));
    expect(textsOf(await conversation.wait(cell.cellId))).toEqual(['same']);
    const other = [{ callId: only(cell), result: said('other') }];
    expect(await tenant.problem('POST', `${conversation.path}/tool-results`, { results: other })).toMatchObject({
      status: 409,
      code: 'tool_result_conflict',
    });
  });

  it('take no result of anybody else, and none of another epoch', async () => {
    const room = await tenant.conversation({ kind: 'room', model: 'one', toolsets: [{ toolset: 'kit' }] });
    const cell = await room.exec('return await tools.ask({})', { memberId: 'anna' });
    const results = [{ callId: only(cell), result: said('forged') }];
    const stranger = await tenantOf(cluster);
    await stranger.ok('PUT', room.path, { kind: 'room' });
    const refusals = [
      await tenant.problem('POST', `${room.path}/tool-results`, { results, memberId: 'ben' }),
      await tenant.problem('POST', `${conversation.path}/tool-results`, { results }),
      await stranger.problem('POST', `${room.path}/tool-results`, { results, memberId: 'anna' }),
    ];
    for (const refusal of refusals) expect(refusal).toMatchObject({ status: 404, code: 'not_found' });
    const { cell: end } = await post(tenant, room.path, [{ callId: only(cell), result: said('true') }], {
      memberId: 'anna',
      observe: { cell_id: cell.cellId },
    });
    expect(end && textsOf(end)).toEqual(['true']);
    const late = await room.exec('await tools.ask({})', { memberId: 'anna' });
    await tenant.ok('PUT', room.path, { kind: 'room', model: 'two' });
    const old = [{ callId: only(late), result: said('late') }];
    expect(await tenant.problem('POST', `${room.path}/tool-results`, { results: old, memberId: 'anna' })).toMatchObject(
      {
        status: 404,
        code: 'not_found',
      },
    );
  });

  it('expire, and the script can catch it', async () => {
    const cell = await conversation.exec(
      'try { await tools.brief({}) } catch (e) { return e.constructor.name + ": " + e.message }',
    );
    const end = await conversation.wait(cell.cellId);
    expect(textsOf(end)).toEqual([
      'Error: tools.brief was not answered within 700 ms. Whether it took effect is not known.',
    ]);
    expect(end.calls).toMatchObject([{ identifier: 'brief', state: 'failed' }]);
    const late = [{ callId: only(cell), result: said('late') }];
    expect(await tenant.problem('POST', `${conversation.path}/tool-results`, { results: late })).toMatchObject({
      status: 410,
      code: 'call_closed',
    });
  });

  it('fan out by the hundred, at most 32 under way', async () => {
    let cell = await conversation.exec(
      'const all = await Promise.all(Array.from({ length: 300 }, (_, i) => tools.ask({ i }))); return all.length + all.join("").length',
    );
    let answered = 0;
    while (cell.state === 'running') {
      const ids = idsOf(cell);
      expect(ids.length).toBeLessThanOrEqual(32);
      answered += ids.length;
      if (ids.length > 0) {
        const results = ids.map((callId) => ({ callId, result: said('x') }));
        await post(tenant.at(cluster.api(answered % 2)), conversation.path, results);
      }
      // On a busy machine the last answer may not be marked yet: its place is taken for a moment.
      const { cellId } = cell;
      cell = await eventually(() => conversation.wait(cellId).catch(() => undefined));
    }
    expect(textsOf(cell)).toEqual(['600']);
    expect(answered).toBe(300);
  });
});

describe('client calls when things fail', () => {
  it('are answered after the API process that told of them was killed', async () => {
    await using cluster = await Cluster.start({ apis: 2 });
    const tenant = await tenantOf(cluster);
    const conversation = await tenant.conversation(bound);
    const cell = await conversation.exec("text('before'); return await tools.ask({})");
    cluster.api().signal('SIGKILL');
    await cluster.api().exited;
    const other = tenant.at(cluster.api(1));
    await post(other, conversation.path, [{ callId: only(cell), result: said('after') }]);
    // The place of the killed process's observer may be taken for 5 s more, and what it collected be told again.
    const end = await eventually(
      () =>
        conversation
          .through(other)
          .wait(cell.cellId)
          .catch(() => undefined),
      {
        withinMs: 15_000,
      },
    );
    expect(end.state).toBe('completed');
    expect(textsOf(end).at(-1)).toBe('after');
  });

  it('are told to the next observer when the API process was killed before it told anybody', async () => {
    await using cluster = await Cluster.start({ apis: 2 });
    const tenant = await tenantOf(cluster);
    const conversation = await tenant.conversation(bound);
    const cut = conversation
      .exec('await new Promise((r) => setTimeout(r, 1500)); return await tools.ask({})')
      .catch(() => 'cut');
    const other = conversation.through(tenant.at(cluster.api(1)));
    const cellId = await eventually(async () => {
      const { cells } = await other.client.ok<{ cells: { cellId: string; state: string }[] }>(
        'GET',
        `${conversation.path}/cells`,
      );
      return cells.find((cell) => cell.state === 'running')?.cellId;
    });
    cluster.api().signal('SIGKILL');
    expect(await cut).toBe('cut');
    const told = await eventually(() => other.wait(cellId).catch(() => undefined), { withinMs: 15_000 });
    expect(told.pendingCalls).toHaveLength(1);
    const { cell: end } = await post(other.client, conversation.path, [{ callId: only(told), result: said('yes') }], {
      observe: { cell_id: cellId },
    });
    expect(end && textsOf(end)).toEqual(['yes']);
  });

  it('reach their script although Redis was away when they were answered', async () => {
    const redis = await testRedis();
    await using gate = new TcpGate(redis.url);
    await gate.open();
    await using cluster = await Cluster.start({ env: { REDIS_URL: gate.url } });
    const tenant = await tenantOf(cluster);
    const conversation = await tenant.conversation(bound);
    const cell = await conversation.exec('return await tools.ask({})');
    await gate.shut();
    const { results } = await post(tenant, conversation.path, [{ callId: only(cell), result: said('kept') }]);
    expect(results[0]?.status).toBe('settled');
    const end = await eventually(async () => {
      const { cells } = await tenant.ok<{ cells: { state: string }[] }>('GET', `${conversation.path}/cells`);
      return cells[0]?.state === 'completed';
    });
    expect(end).toBe(true);
    await gate.open();
    expect(textsOf(await conversation.wait(cell.cellId))).toEqual(['kept']);
  });

  it('are named with the cell that was lost with its worker', async () => {
    await using cluster = await Cluster.start();
    const tenant = await tenantOf(cluster);
    const conversation = await tenant.conversation(bound);
    const cell = await conversation.exec('await tools.ask({}); await tools.brief({})');
    const { cell: more } = await post(tenant, conversation.path, [{ callId: only(cell), result: said('done') }], {
      observe: { cell_id: cell.cellId },
    });
    expect(more?.pendingCalls).toMatchObject([{ identifier: 'brief' }]);
    cluster.worker().signal('SIGKILL');
    const lost = await conversation.wait(cell.cellId, { yield_time_ms: 60_000 });
    expect(lost).toMatchObject({
      state: 'failed',
      error: { code: 'worker_lost' },
      calls: [{ identifier: 'ask', state: 'completed' }, { identifier: 'brief' }],
    });
    expect(textsOf(lost)[0]).toContain(
      'Tool calls made before the failure (they are not undone): ask (completed), brief (',
    );
  });
});
