import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CellResult } from '#libs/contracts';
import { type CellarClient, Cluster, type ConversationClient, textsOf } from '../../libs/testing/src/index.js';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const show = (data = PNG) => `image('data:image/png;base64,${data}')`;
const ID = /^a_[0-9A-HJKMNP-TV-Z]{16}$/;

let cluster: Cluster;
let tenant: CellarClient;
let conversation: ConversationClient;
beforeAll(async () => {
  cluster = await Cluster.start({ apis: 2 });
  tenant = await cluster.tenant();
  conversation = await tenant.conversation();
});
afterAll(() => cluster[Symbol.asyncDispose]());

/** Reads an artifact. */
function read(path: string, artifactId: string, { client = tenant, query = '', api = 1 } = {}): Promise<Response> {
  return fetch(`${cluster.api(api).url}${path}/artifacts/${artifactId}${query}`, {
    headers: { authorization: `Bearer ${client.key}` },
  });
}

/** The only artifact of a result. */
function only({ artifacts }: CellResult): CellResult['artifacts'][number] {
  const [artifact] = artifacts;
  if (artifacts.length !== 1 || !artifact) throw new Error(`${artifacts.length} artifacts`);
  return artifact;
}

const NOT_FOUND = { status: 404, code: 'not_found' };
const problemOf = async (response: Response): Promise<unknown> => response.json();

describe('an image', () => {
  it('is kept once per cell, named before each showing, and read through any API process', async () => {
    const result = await conversation.exec(`${show()}; text('between'); ${show()}`);
    const artifact = only(result);
    expect(artifact).toEqual({
      artifactId: expect.stringMatching(ID) as string,
      kind: 'image',
      mimeType: 'image/png',
      bytes: 70,
    });
    const label = `[Image saved as ${artifact.artifactId} (image/png, 70 B)]`;
    const image = { type: 'image', data: PNG, mimeType: 'image/png' };
    const text = (of: string) => ({ type: 'text', text: of });
    expect(result.content.slice(1)).toEqual([text(label), image, text('between'), text(label), image]);
    for (const api of [0, 1]) {
      const response = await read(conversation.path, artifact.artifactId, { api });
      expect(response.status).toBe(200);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-length': '70',
        'content-disposition': 'inline',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'private, max-age=86400, immutable',
      });
      expect(Buffer.from(await response.arrayBuffer()).toString('base64')).toBe(PNG);
    }
    expect(only(await conversation.exec(show())).artifactId).not.toBe(artifact.artifactId);
  });

  it('is there before the cell ends, and after it failed or was stopped', async () => {
    const running = await conversation.exec(
      `${show()}; yield_control(); await new Promise((r) => setTimeout(r, 60000))`,
    );
    expect(running.state).toBe('running');
    const { artifactId } = only(running);
    expect((await read(conversation.path, artifactId)).status).toBe(200);
    await conversation.wait(running.cellId, { terminate: true });
    expect((await read(conversation.path, artifactId)).status).toBe(200);
    const failed = await conversation.codemode(`${show()}; throw new Error('x')`);
    expect(failed.state).toBe('failed');
    expect((await read(conversation.path, only(failed).artifactId)).status).toBe(200);
    const stopped = await conversation.exec(
      `// @exec: {"yield_time_ms": 0}\n${show()}; for (;;) await new Promise((r) => setTimeout(r, 10))`,
    );
    const end = await conversation.wait(stopped.cellId, { terminate: true });
    const shown = [...stopped.artifacts, ...end.artifacts];
    for (const artifact of shown) expect((await read(conversation.path, artifact.artifactId)).status).toBe(200);
  });

  it('is one of at most 100 different ones', async () => {
    const { state, artifacts, content } = await conversation.exec(`
      const gif = (n) => 'data:image/gif;base64,R0lGODlh' + String(n).padStart(8, '0');
      for (let i = 0; i < 100; i++) image(gif(i));
      image(gif(0));
      try { image(gif(100)) } catch (e) { text(e.name + ': ' + e.message) }`);
    expect(state).toBe('completed');
    expect(artifacts).toHaveLength(100);
    expect(content.at(-1)).toEqual({
      type: 'text',
      text: 'RangeError: image: a script may show 100 different images, and this would be one more; show fewer',
    });
  });

  it('is found by its owner alone', async () => {
    const room = await tenant.conversation({ kind: 'room', model: 'one' });
    const shown = await room.exec(show(), { memberId: 'anna' });
    const { artifactId } = only(shown);
    const mine = '?memberId=anna';
    expect((await read(room.path, artifactId, { query: mine })).status).toBe(200);
    expect(await problemOf(await read(room.path, artifactId))).toMatchObject({ status: 422, code: 'member_required' });
    const other = await cluster.tenant();
    await other.ok('PUT', `/v1/conversations/${room.id}`, { kind: 'room' });
    const missing = await read(room.path, 'a_0000000000000000', { query: mine });
    expect(missing.headers.has('cache-control')).toBe(false);
    const never = await problemOf(missing);
    expect(never).toMatchObject(NOT_FOUND);
    for (const response of [
      await read(room.path, artifactId, { query: '?memberId=ben' }),
      await read(conversation.path, artifactId),
      await read(room.path, artifactId, { query: mine, client: other }),
      await read(room.path, 'a_x', { query: mine }),
      await read(room.path, `${artifactId}%00`, { query: mine }),
    ]) {
      expect(await problemOf(response)).toEqual(never);
    }
    await tenant.ok('PUT', room.path, { kind: 'room', model: 'two' });
    expect(await problemOf(await read(room.path, artifactId, { query: mine }))).toEqual(never);
  });
});

describe('the full text of a cut result', () => {
  it('is kept with the final answer, once, and holds every character', async () => {
    const odd = 'start \u0000 \ud800 é 😀\n';
    const result = await conversation.exec(
      `// @exec: {"max_output_tokens": 10}\ntext(${JSON.stringify(odd)}); text('x'.repeat(100000)); console.log('end')`,
    );
    const artifact = only(result);
    expect(artifact).toMatchObject({ kind: 'output', mimeType: 'text/plain; charset=utf-8' });
    expect(textsOf(result).at(-1)).toBe(`[Full output saved as ${artifact.artifactId}]`);
    const response = await read(conversation.path, artifact.artifactId);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.length).toBe(artifact.bytes);
    // A lone surrogate keeps three bytes of its own.
    const start = Buffer.concat([Buffer.from('start \0 '), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from(' é 😀\n\n')]);
    expect(bytes.subarray(0, start.length)).toEqual(start);
    expect(bytes.subarray(start.length).toString()).toBe(
      `${'x'.repeat(100_000)}\n<console_output>\nend\n</console_output>`,
    );
  });

  it('is read in pieces, and made of whatever the script wrote', async () => {
    const result = await conversation.exec(`text('\\ud800'.repeat(1500000)); text('é'.repeat(100000))`);
    expect(result.state).toBe('completed');
    const { artifactId, bytes } = only(result);
    const file = Buffer.from(await (await read(conversation.path, artifactId)).arrayBuffer());
    expect(file.length).toBe(bytes);
    expect(
      file.equals(Buffer.concat([Buffer.alloc(4_500_000, 'eda080', 'hex'), Buffer.from(`\n${'é'.repeat(1e5)}`)])),
    ).toBe(true);
  });

  it('is not kept of an answer that is not the last, or that was not cut', async () => {
    const first = await conversation.exec(
      `// @exec: {"max_output_tokens": 1}\ntext('a long text, too long'); yield_control(); await new Promise((r) => setTimeout(r, 300))`,
    );
    expect(first).toMatchObject({ state: 'running', artifacts: [] });
    expect(textsOf(first)[0]).toContain('Warning: truncated output');
    expect(await conversation.wait(first.cellId)).toMatchObject({ state: 'completed', artifacts: [] });
  });

  it('leaves images whole beside it, and a budget of 0 leaves the names', async () => {
    const result = await conversation.exec(`// @exec: {"max_output_tokens": 0}\ntext('gone'); ${show()}`);
    const [image, output] = result.artifacts;
    expect(textsOf(result)).toEqual([
      expect.stringContaining('Warning: truncated output (original token count: 1)'),
      `[Image saved as ${image?.artifactId} (image/png, 70 B)]`,
      `[Full output saved as ${output?.artifactId}]`,
    ]);
    expect(result.content).toContainEqual({ type: 'image', data: PNG, mimeType: 'image/png' });
    expect(await (await read(conversation.path, output?.artifactId ?? '')).text()).toBe('gone');
  });
});
