import fc from 'fast-check';
import { expect, it } from 'vitest';
import { startTestApi } from '../integration/api-fixture.js';
import { length, report } from './length.js';

const json = fc.jsonValue({ noUnicodeString: false });
const id = fc.oneof(fc.constantFrom('call_0000000000000000', '', '__proto__', '\0', '\ud800'), fc.string());
const block = fc.oneof(fc.record({ type: fc.constantFrom('text', 'image', 'resource', 'smell'), text: json }), json);
const result = fc.oneof(
  fc.record(
    { content: fc.array(block, { maxLength: 3 }), structuredContent: json, isError: fc.oneof(fc.boolean(), json) },
    { requiredKeys: [] },
  ),
  json,
);
const posted = fc.oneof(
  fc.record({ callId: id, result, error: fc.oneof(fc.record({ message: json }), json) }, { requiredKeys: [] }),
  json,
);
const wellFormed = fc.record({
  callId: fc.string({ minLength: 1, maxLength: 40 }),
  result: fc.record({ content: fc.constant([]), structuredContent: json }),
});
const body = fc.oneof(
  { weight: 3, arbitrary: fc.array(wellFormed, { minLength: 1 }).map((results) => JSON.stringify({ results })) },
  fc
    .record(
      {
        results: fc.oneof(fc.array(posted, { maxLength: 4 }), json),
        observe: fc.oneof(fc.record({ cell_id: id, yield_time_ms: json }, { requiredKeys: [] }), json),
        memberId: fc.oneof(fc.string(), json),
      },
      { requiredKeys: ['results'] },
    )
    .map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('{"results":[{"__proto__":{}}]}', '['.repeat(5_000), '{"results":'),
);

it('bodies of tool results are settled or refused with a problem, whatever they hold', async () => {
  await using api = await startTestApi();
  const client = await api.tenant();
  const conversation = await client.conversation();
  const url = `${conversation.path}/tool-results`;
  const statuses: Record<number, number> = {};
  const init = (text: string): RequestInit => ({
    body: text,
    headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
  });
  await fc.assert(
    fc.asyncProperty(body, async (text) => {
      const { status, body: answer } = await client.send<{ code?: string }>('POST', url, undefined, init(text));
      statuses[status] = (statuses[status] ?? 0) + 1;
      expect([200, 400, 404]).toContain(status);
      if (status !== 200) expect(answer.code).toMatch(/^(invalid_request|(cell_)?not_found)$/);
    }),
    { numRuns: length.httpRuns },
  );
  report('tool results', statuses);
  for (const status of [200, 400]) expect(statuses[status]).toBeGreaterThan(0);
  expect(Object.keys({}.constructor.prototype)).toEqual([]);
}, 3_600_000);
