import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

// Plays cases against a running Cellar over HTTP. A case is { name, group, kind?, settings?, steps: [{ do, ..., expect }] }.

// Client-owned tools that cases may use; each gets the arguments and answers with a CallToolResult.
const say = (text) => ({ content: [{ type: 'text', text }] });
const tools = {
  echo: (a) => say(String(a.value)),
  add: (a) => ({ content: [{ type: 'text', text: String(a.a + a.b) }], structuredContent: { sum: a.a + a.b } }),
  fail: (a) => ({ isError: true, content: [{ type: 'text', text: a.message ?? 'it failed' }] }),
  slow: async (a) => {
    await new Promise((r) => setTimeout(r, a.ms));
    return say('slow done');
  },
  big: (a) => say('x'.repeat(a.size)),
  picture: () => ({
    content: [
      {
        type: 'image',
        mimeType: 'image/png',
        data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      },
    ],
  }),
  never: () => undefined,
};
const object = (properties, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const num = { type: 'number' },
  str = { type: 'string' };
const client = { kind: 'client' };
const toolSpecs = [
  {
    name: 'echo',
    description: 'Gives the value back as text',
    inputSchema: object({ value: {} }),
    exposure: 'core',
    delivery: client,
  },
  {
    name: 'add',
    description: 'Adds two numbers',
    inputSchema: object({ a: num, b: num }),
    outputSchema: object({ sum: num }),
    exposure: 'declared',
    delivery: client,
  },
  {
    name: 'fail',
    description: 'Fails with the message',
    inputSchema: object({ message: str }, []),
    exposure: 'declared',
    delivery: client,
  },
  {
    name: 'slow',
    description: 'Answers after some milliseconds',
    inputSchema: object({ ms: num }),
    exposure: 'declared',
    delivery: client,
  },
  {
    name: 'big',
    description: 'Answers with a text of a given size',
    inputSchema: object({ size: num }),
    exposure: 'declared',
    delivery: client,
  },
  {
    name: 'picture',
    description: 'Answers with a small picture',
    inputSchema: object({}),
    exposure: 'declared',
    delivery: client,
  },
  { name: 'never', description: 'Never answers', inputSchema: object({}), exposure: 'declared', delivery: client },
  {
    name: 'my-tool',
    namespace: 'kit',
    description: 'A tool whose name is no identifier',
    inputSchema: object({}),
    exposure: 'deferred',
    delivery: client,
  },
  {
    name: 'calendar_create_event',
    description: 'Create an event in the calendar of the user',
    inputSchema: object({ title: str, start: str }),
    exposure: 'deferred',
    delivery: client,
  },
  {
    name: 'calendar_list_events',
    description: 'List the events of a day in the calendar',
    inputSchema: object({ day: str }),
    exposure: 'deferred',
    delivery: client,
  },
  {
    name: 'weather_forecast',
    description: 'Get the weather forecast for a city',
    inputSchema: object({ city: str }),
    exposure: 'deferred',
    delivery: client,
  },
  {
    name: 'subagent',
    description: 'Start another agent',
    inputSchema: object({ task: str }),
    exposure: 'model-only',
    delivery: client,
  },
];
tools['my-tool'] = () => say('mine');
for (const name of ['calendar_create_event', 'calendar_list_events', 'weather_forecast'])
  tools[name] = (a) => say(`${name} ${JSON.stringify(a)}`);

async function send({ url, key }, method, path, body, headers = {}) {
  const res = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(120_000),
  });
  const text = await res.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    json = text;
  }
  return { status: res.status, json };
}

// Runs exec / codemode / wait and answers client calls until the cell rests.
async function settle(call, base, first, who) {
  let r = first;
  for (
    let round = 0;
    round < 200 && r.status === 200 && r.json?.state === 'running' && r.json.pendingCalls?.length;
    round++
  ) {
    const results = (
      await Promise.all(
        r.json.pendingCalls.map(async (c) => {
          const result = await tools[c.tool]?.(c.arguments);
          return result && { callId: c.callId, result };
        }),
      )
    ).filter(Boolean);
    if (results.length === 0) return r;
    const answer = await call('POST', `${base}/tool-results`, {
      ...who,
      results,
      observe: { cell_id: r.json.cellId, yield_time_ms: 20_000, max_tokens: 100_000 },
    });
    if (answer.status !== 200) return answer;
    const before = r.json;
    r = { status: 200, json: answer.json.cell };
    if (r.json) r.json.content = join(before.content, r.json.content);
  }
  return r;
}
const join = (a, b) => (a?.length > 1 ? [b[0], ...a.slice(1), ...b.slice(1)] : b);

/** Plays one case; the problems that it found, none when it passed. `server` is { url, key }. */
export async function play(server, test) {
  const call = (...request) => send(server, ...request);
  const c = `/v1/conversations/case-${randomBytes(8).toString('hex')}`;
  const seen = {};
  // "${name}" alone keeps the saved value's type; inside a longer text it becomes text.
  const fill = (v) =>
    typeof v === 'string'
      ? /^\$\{\w+\}$/.test(v)
        ? (seen[v.slice(2, -1)] ?? '')
        : v.replace(/\$\{(\w+)\}/g, (_, n) => String(seen[n] ?? ''))
      : Array.isArray(v)
        ? v.map(fill)
        : v && typeof v === 'object'
          ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, fill(x)]))
          : v;
  const setup = await call('PUT', c, {
    kind: test.kind ?? 'direct',
    toolsets: [{ toolset: 'conformance' }],
    ...(test.settings ? { settings: test.settings } : {}),
  });
  if (setup.status >= 300) return [`configure: ${setup.status} ${JSON.stringify(setup.json)}`];
  const problems = [];
  for (const [i, step] of test.steps.entries()) {
    const s = fill(step);
    const who = s.member ? { memberId: s.member } : {};
    const branch = s.branch ? { branchId: s.branch } : {};
    const started = performance.now();
    let r;
    if (s.do === 'exec')
      r = await settle(
        call,
        c,
        await call('POST', `${c}/exec`, { source: s.source, ...who, ...branch }, s.headers),
        who,
      );
    else if (s.do === 'codemode')
      r = await settle(
        call,
        c,
        await call('POST', `${c}/codemode`, { code: s.source, ...who, ...branch }, s.headers),
        who,
      );
    else if (s.do === 'wait')
      r = await settle(call, c, await call('POST', `${c}/wait`, { cell_id: s.cell_id, ...s.args, ...who }), who);
    else if (s.do === 'sleep') {
      await new Promise((done) => setTimeout(done, s.ms));
      continue;
    } else r = await call(s.method, (s.absolute ? '' : c) + s.path, s.body, s.headers);
    const ms = performance.now() - started;
    if (s.save && r.json)
      for (const [name, path] of Object.entries(s.save)) seen[name] = path.split('.').reduce((o, k) => o?.[k], r.json);
    problems.push(...check(s.expect ?? {}, r, ms).map((p) => `step ${i + 1} (${s.do}): ${p}`));
  }
  return problems;
}

function check(want, { status, json }, ms) {
  const out = [];
  const fail = (what, got) => out.push(`${what}; got ${JSON.stringify(got)?.slice(0, 600)}`);
  if ((want.status ?? 200) !== status && !(want.status === undefined && status < 300))
    fail(`status should be ${want.status ?? 200}`, { status, json });
  if (want.state && json?.state !== want.state)
    fail(`state should be ${want.state}`, {
      state: json?.state,
      error: json?.error,
      content: json?.content,
      code: json?.code,
    });
  if (want.code && (json?.error?.code ?? json?.code) !== want.code)
    fail(`code should be ${want.code}`, json?.error ?? json);
  const blocks = (json?.content ?? []).slice(1);
  const texts = blocks.filter((b) => b.type === 'text').map((b) => b.text);
  const everything = JSON.stringify(json ?? '');
  if (want.texts && !isDeepStrictEqual(texts, want.texts)) fail(`texts should be ${JSON.stringify(want.texts)}`, texts);
  if (want.header && !new RegExp(want.header).test(json?.content?.[0]?.text ?? ''))
    fail(`header should match ${want.header}`, json?.content?.[0]);
  for (const t of want.includes ?? [])
    if (!texts.join('\n').includes(t)) fail(`texts should include ${JSON.stringify(t)}`, texts);
  for (const t of want.excludes ?? [])
    if (texts.join('\n').includes(t)) fail(`texts should not include ${JSON.stringify(t)}`, texts);
  for (const t of want.matches ?? [])
    if (!new RegExp(t, 's').test(texts.join('\n'))) fail(`texts should match ${t}`, texts);
  for (const t of want.never ?? []) if (everything.includes(t)) fail(`the answer should not contain ${t}`, everything);
  for (const t of want.body ?? [])
    if (!everything.includes(t)) fail(`the answer should contain ${t}`, everything.slice(0, 400));
  if (
    want.types &&
    !isDeepStrictEqual(
      blocks.map((b) => b.type),
      want.types,
    )
  )
    fail(
      `content types should be ${want.types}`,
      blocks.map((b) => b.type),
    );
  if (
    want.calls &&
    !isDeepStrictEqual(
      (json?.calls ?? []).map((x) => [x.identifier, x.state]),
      want.calls,
    )
  )
    fail(`calls should be ${JSON.stringify(want.calls)}`, json?.calls);
  for (const [path, value] of Object.entries(want.fields ?? {})) {
    const got = path.split('.').reduce((o, k) => o?.[k], json);
    if (!isDeepStrictEqual(got, value)) fail(`${path} should be ${JSON.stringify(value)}`, got);
  }
  if (want.withinMs && ms > want.withinMs) fail(`should take at most ${want.withinMs} ms`, Math.round(ms));
  if (want.afterMs && ms < want.afterMs) fail(`should take at least ${want.afterMs} ms`, Math.round(ms));
  return out;
}

/** Registers the tools that cases may use. Once per tenant, before the first case. */
export async function registerTools(server) {
  const toolset = await send(server, 'PUT', '/v1/toolsets/conformance', { tools: toolSpecs });
  if (toolset.status >= 300)
    throw new Error(`cannot register the tools: ${toolset.status} ${JSON.stringify(toolset.json)}`);
}
