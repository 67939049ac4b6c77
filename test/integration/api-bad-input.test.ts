import { problemSchema } from '#libs/contracts';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CellarClient } from '../../libs/testing/src/index.js';
import { type TestApi, startTestApi } from './api-fixture.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const tool = {
  name: 'a',
  description: 'A tool',
  inputSchema: { type: 'object' },
  exposure: 'core',
  delivery: { kind: 'client' },
};
const tools = (...changed: object[]) => ({ tools: changed.map((change) => ({ ...tool, ...change })) });
const deep = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
const nested = (depth: number): object => (depth === 0 ? { type: 'string' } : { not: nested(depth - 1) });

type Case = [what: string, method: string, path: string, body: unknown, status: number, code: string, headers?: object];

/** A body that is a text is sent as it is; anything else as JSON. `C` stands for the path of a conversation. */
const cases: Case[] = [
  ['no such route', 'GET', '/v1/nothing', undefined, 404, 'not_found'],
  ['the root', 'GET', '/', undefined, 404, 'not_found'],
  ['a wrong method', 'POST', 'C', {}, 404, 'not_found'],
  ['a method of its own', 'PROPFIND', 'C', undefined, 404, 'not_found'],
  ['a broken escape in the path', 'GET', '/v1/conversations/%E0%A4%A', undefined, 400, 'invalid_request'],
  ['NUL in the path', 'GET', '/v1/conversations/a%00b', undefined, 404, 'not_found'],
  ['a slash in a name', 'GET', '/v1/conversations/a%2Fb', undefined, 404, 'not_found'],
  ['dots as a name', 'GET', '/v1/conversations/%2e%2e%2e%20', undefined, 404, 'not_found'],
  ['a name that is too long', 'GET', `/v1/conversations/${'x'.repeat(129)}`, undefined, 404, 'not_found'],
  ['a path that is far too long', 'GET', `/v1/conversations/${'x'.repeat(8_000)}`, undefined, 400, 'invalid_request'],
  ['a conversation that is not there', 'GET', '/v1/conversations/nobody', undefined, 404, 'not_found'],
  ['PUT to a name with a space', 'PUT', '/v1/conversations/a%20b', { kind: 'direct' }, 400, 'invalid_request'],
  [
    'PUT to a name that is too long',
    'PUT',
    `/v1/conversations/${'x'.repeat(129)}`,
    { kind: 'direct' },
    400,
    'invalid_request',
  ],
  ['PUT to NUL', 'PUT', '/v1/conversations/%00', { kind: 'direct' }, 400, 'invalid_request'],
  ['a lone surrogate in the path', 'PUT', '/v1/conversations/%ED%A0%80', { kind: 'direct' }, 400, 'invalid_request'],
  ['no body', 'PUT', 'C', undefined, 400, 'invalid_request'],
  ['an empty body', 'PUT', 'C', '', 400, 'invalid_request', JSON_TYPE],
  ['malformed JSON', 'PUT', 'C', '{"kind":', 400, 'invalid_request', JSON_TYPE],
  ['a byte order mark and nothing', 'PUT', 'C', '\ufeff', 400, 'invalid_request', JSON_TYPE],
  ['NaN', 'PUT', 'C', '{"kind":NaN}', 400, 'invalid_request', JSON_TYPE],
  ['two values', 'PUT', 'C', '{}{}', 400, 'invalid_request', JSON_TYPE],
  ['bytes that are no UTF-8', 'PUT', 'C', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 400, 'invalid_request', JSON_TYPE],
  ['plain text', 'PUT', 'C', 'kind=direct', 415, 'unsupported_media_type', { 'content-type': 'text/plain' }],
  [
    'a form',
    'PUT',
    'C',
    'kind=direct',
    415,
    'unsupported_media_type',
    { 'content-type': 'application/x-www-form-urlencoded' },
  ],
  ['an unknown type', 'PUT', 'C', '{}', 415, 'unsupported_media_type', { 'content-type': 'application/cellar' }],
  ['a type that is none', 'PUT', 'C', '{}', 415, 'unsupported_media_type', { 'content-type': ';;' }],
  ['an encoded body', 'PUT', 'C', '{}', 415, 'unsupported_media_type', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
  ['a body over 8 MiB', 'PUT', 'C', `"${'x'.repeat(8_388_608)}"`, 413, 'payload_too_large', JSON_TYPE],
  ['null', 'PUT', 'C', 'null', 400, 'invalid_request', JSON_TYPE],
  ['a number', 'PUT', 'C', '5', 400, 'invalid_request', JSON_TYPE],
  ['a text', 'PUT', 'C', '"direct"', 400, 'invalid_request', JSON_TYPE],
  ['an array', 'PUT', 'C', [], 400, 'invalid_request'],
  ['__proto__', 'PUT', 'C', '{"kind":"direct","__proto__":{"kind":"room"}}', 400, 'invalid_request', JSON_TYPE],
  [
    '__proto__ in the depth',
    'PUT',
    '/v1/toolsets/t',
    '{"tools":[{"inputSchema":{"__proto__":{}}}]}',
    400,
    'invalid_request',
    JSON_TYPE,
  ],
  ['constructor', 'PUT', 'C', '{"kind":"direct","constructor":{"prototype":{}}}', 400, 'invalid_request', JSON_TYPE],
  ['deep objects', 'PUT', 'C', deep(50_000), 400, 'invalid_request', JSON_TYPE],
  ['deep arrays', 'PUT', 'C', '['.repeat(1_000_000), 400, 'invalid_request', JSON_TYPE],
  ['a field that is missing', 'PUT', 'C', {}, 400, 'invalid_request'],
  ['an unknown field', 'PUT', 'C', { kind: 'direct', colour: 'red' }, 400, 'invalid_request'],
  ['an unknown kind', 'PUT', 'C', { kind: 'group' }, 400, 'invalid_request'],
  ['a model that is no text', 'PUT', 'C', { kind: 'direct', model: { name: 'm' } }, 400, 'invalid_request'],
  ['a model without a name', 'PUT', 'C', { kind: 'direct', model: '' }, 400, 'invalid_request'],
  ['an unknown setting', 'PUT', 'C', { kind: 'direct', settings: { speed: 5 } }, 400, 'invalid_request'],
  ['a negative setting', 'PUT', 'C', { kind: 'direct', settings: { cpuLimitMs: -1 } }, 400, 'invalid_request'],
  ['a fraction', 'PUT', 'C', { kind: 'direct', settings: { cpuLimitMs: 1.5 } }, 400, 'invalid_request'],
  ['a number as text', 'PUT', 'C', { kind: 'direct', settings: { cpuLimitMs: '5' } }, 400, 'invalid_request'],
  ['a huge number', 'PUT', 'C', '{"kind":"direct","settings":{"cpuLimitMs":1e999}}', 400, 'invalid_request', JSON_TYPE],
  ['an unknown toolset', 'PUT', 'C', { kind: 'direct', toolsets: [{ toolset: 'nowhere' }] }, 400, 'invalid_request'],
  ['a toolset without a name', 'PUT', 'C', { kind: 'direct', toolsets: [{ toolset: '\0' }] }, 400, 'invalid_request'],
  [
    'a member without a name',
    'PUT',
    'C',
    { kind: 'room', toolsets: [{ toolset: 'a', memberIds: [''] }] },
    400,
    'invalid_request',
  ],
  ['a branch without a name', 'POST', 'C/branches', { branchId: '\ud800' }, 400, 'invalid_request'],
  ['a branch from nowhere', 'POST', 'C/branches', { branchId: 'b', from: { branchId: 'nowhere' } }, 404, 'not_found'],
  ['a branch that exists', 'POST', 'C/branches', { branchId: 'main' }, 409, 'conflict'],
  [
    'a negative sequence',
    'POST',
    'C/branches',
    { branchId: 'b', from: { branchId: 'main', sequence: -1 } },
    400,
    'invalid_request',
  ],
  [
    'an unsafe sequence',
    'POST',
    'C/branches',
    { branchId: 'b', from: { branchId: 'main', sequence: 2 ** 53 } },
    400,
    'invalid_request',
  ],
  ['a branch of no conversation', 'POST', '/v1/conversations/nobody/branches', { branchId: 'b' }, 404, 'not_found'],
  ['a toolset name with a slash', 'PUT', '/v1/toolsets/a%2Fb', tools(), 400, 'invalid_request'],
  ['tools that are no list', 'PUT', '/v1/toolsets/t', { tools: {} }, 400, 'invalid_request'],
  ['a tool without a name', 'PUT', '/v1/toolsets/t', tools({ name: '' }), 400, 'invalid_request'],
  ['a tool without a delivery', 'PUT', '/v1/toolsets/t', tools({ delivery: undefined }), 400, 'invalid_request'],
  ['an unknown delivery', 'PUT', '/v1/toolsets/t', tools({ delivery: { kind: 'pigeon' } }), 400, 'invalid_request'],
  [
    'an address of another scheme',
    'PUT',
    '/v1/toolsets/t',
    tools({ delivery: { kind: 'http', url: 'file:///etc/passwd' } }),
    400,
    'invalid_request',
  ],
  ['a schema that is a text', 'PUT', '/v1/toolsets/t', tools({ inputSchema: 'object' }), 400, 'invalid_request'],
  [
    'a schema that is not valid',
    'PUT',
    '/v1/toolsets/t',
    tools({ inputSchema: { type: 'objekt' } }),
    400,
    'invalid_request',
  ],
  [
    'a schema of no object',
    'PUT',
    '/v1/toolsets/t',
    tools({ inputSchema: { type: 'string' } }),
    400,
    'invalid_request',
  ],
  [
    'a schema that is too deep',
    'PUT',
    '/v1/toolsets/t',
    tools({ inputSchema: { type: 'object', ...nested(60) } }),
    400,
    'invalid_request',
  ],
  [
    'a schema that is too large',
    'PUT',
    '/v1/toolsets/t',
    tools({ inputSchema: { type: 'object', description: 'x'.repeat(70_000) } }),
    400,
    'invalid_request',
  ],
  [
    'a broken pattern',
    'PUT',
    '/v1/toolsets/t',
    tools({ inputSchema: { type: 'object', properties: { a: { pattern: '(' } } } }),
    400,
    'invalid_request',
  ],
  [
    'a schema from elsewhere',
    'PUT',
    '/v1/toolsets/t',
    tools({ inputSchema: { type: 'object', $ref: 'https://example.org/s.json' } }),
    400,
    'invalid_request',
  ],
  ['tools of one name', 'PUT', '/v1/toolsets/t', tools({ name: 'a-b' }, { name: 'a_b' }), 409, 'tool_name_collision'],
  ['a toolset that is not there', 'GET', '/v1/toolsets/nowhere', undefined, 404, 'not_found'],
  ['a toolset that is not there, deleted', 'DELETE', '/v1/toolsets/nowhere', undefined, 404, 'not_found'],
  ['no script', 'POST', 'C/exec', {}, 400, 'invalid_request'],
  ['a script that is no text', 'POST', 'C/exec', { source: 5 }, 400, 'invalid_request'],
  ['a blank script', 'POST', 'C/exec', { source: ' \n' }, 422, 'invalid_pragma'],
  ['a bad first line', 'POST', 'C/exec', { source: '// @exec: {"speed":1}\ntext(1)' }, 422, 'invalid_pragma'],
  ['a script that is too large', 'POST', 'C/exec', { source: `//${'x'.repeat(262_144)}` }, 413, 'payload_too_large'],
  ['a script of no conversation', 'POST', '/v1/conversations/nobody/exec', { source: 'text(1)' }, 404, 'not_found'],
  ['a cell that is not there', 'POST', 'C/wait', { cell_id: 'c_0000000000000000' }, 404, 'cell_not_found'],
  ['a cell of no form', 'POST', 'C/wait', { cell_id: '\0' }, 404, 'cell_not_found'],
  ['a negative wait', 'POST', 'C/wait', { cell_id: 'c_0000000000000000', yield_time_ms: -1 }, 400, 'invalid_request'],
  ['a limit of nothing', 'GET', 'C/cells?limit=0', undefined, 400, 'invalid_request'],
  ['a limit that is no number', 'GET', 'C/cells?limit=many', undefined, 400, 'invalid_request'],
  ['an unknown question', 'GET', 'C/cells?colour=red', undefined, 400, 'invalid_request'],
  ['a cursor that was never given', 'GET', 'C/cells?cursor=%00%ff', undefined, 400, 'invalid_request'],
];

describe('bad input', () => {
  let api: TestApi;
  let client: CellarClient;
  let before: Record<string, unknown[]>;
  beforeAll(async () => {
    api = await startTestApi();
    client = await api.tenant();
    await client.ok('PUT', '/v1/conversations/here', { kind: 'direct' });
    before = await api.rows();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  it.each(cases)('%s: %s %.60s', async (_what, method, path, body, status, code, headers = {}) => {
    const raw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
    const response = await fetch(api.url + path.replace(/^C/, '/v1/conversations/here'), {
      method,
      headers: { authorization: `Bearer ${client.key}`, ...(raw ? {} : JSON_TYPE), ...headers },
      ...(body === undefined ? {} : { body: raw ? body : JSON.stringify(body) }),
    });
    const problem = problemSchema.parse(await response.json());
    expect([response.status, problem.code], problem.detail).toEqual([status, code]);
    expect(problem.status).toBe(status);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(response.headers.get('x-request-id')).toMatch(/^\w+$/);
    expect(problem.detail.length).toBeLessThan(1_000);
    expect(await api.rows()).toEqual(before);
  });

  it.each([
    ['no HTTP', 'hello there\r\n\r\n'],
    ['a header that is too large', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    [
      'both a length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('answers %s with a problem document', async (_what, request) => {
    const { hostname, port } = new URL(api.url);
    const socket = connect(Number(port), hostname);
    socket.end(request);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(problemSchema.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).code).toBe('invalid_request');
  });

  it('logged no fault of its own', () => {
    const faults = api.log.filter((line) => (JSON.parse(line) as { level: number }).level >= 50);
    expect(faults).toEqual([]);
  });
});
