import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestPool } from '../test/run-script.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
afterAll(() => pool.close());

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const base64 = (...parts: (string | number[])[]): string =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  ).toString('base64');

it.each<[string, string]>([
  ['PNG', `image("data:image/png;base64,${PNG}")`],
  ['a wrong declared type', `image("data:image/jpeg;base64,${PNG}")`],
  ['wrapped', `image("data:image/png;base64,${PNG.slice(0, 40)}\\r\\n ${PNG.slice(40)}\\n")`],
  ['parameters', `image("DATA:image/png;name=a.png;base64,${PNG}")`],
  ['image_url', `image({ image_url: "data:image/png;base64,${PNG}" })`],
  ['image_url.url', `image({ type: 'image_url', image_url: { url: "data:image/png;base64,${PNG}" } })`],
  ['a block', `image({ type: 'image', data: "${PNG}", mimeType: 'image/webp', note: 'resized' })`],
])('shows an image: %s', async (_name, source) => {
  const result = await pool.run(`text(${source})`);
  expect(result).toMatchObject({ state: 'completed', texts: ['undefined'] });
  const hash = createHash('sha256').update(Buffer.from(PNG, 'base64')).digest('base64url');
  expect(result.media).toEqual([{ kind: 'image', data: PNG, mimeType: 'image/png', hash }]);
});

it.each([
  ['image', 'image/jpeg', base64([0xff, 0xd8, 0xff, 0xe0], 'JFIF')],
  ['image', 'image/gif', base64('GIF89a')],
  ['image', 'image/gif', base64('GIF87a..')],
  ['image', 'image/webp', base64('RIFF', [4, 0, 0, 0], 'WEBP')],
  ['audio', 'audio/wav', base64('RIFF', [4, 0, 0, 0], 'WAVEfmt ')],
  ['audio', 'audio/mpeg', base64('ID3', [4, 0])],
  ['audio', 'audio/mpeg', base64([0xff, 0xfb, 0x90, 0x64])],
  ['audio', 'audio/aac', base64([0xff, 0xf1, 0x50, 0x80])],
  ['audio', 'audio/ogg', base64('OggS')],
  ['audio', 'audio/flac', base64('fLaC')],
  ['audio', 'audio/mp4', base64([0, 0, 0, 32], 'ftypM4A ')],
  ['audio', 'audio/webm', base64([0x1a, 0x45, 0xdf, 0xa3, 0x9f, 0x42, 0x82, 0x84], 'webm')],
])('tells %s types by their bytes: %s', async (kind, mimeType, data) => {
  const source = `${kind}({ type: '${kind}', data: '${data}', mimeType: 'x/y' }); ${kind}({ ${kind}_url: 'data:;base64,${data}' })`;
  const item = { kind, data, mimeType };
  const result = await pool.run(source, { dialect: 'codemode' });
  expect(result).toMatchObject({ state: 'completed', media: [item, item] });
});

it.each([
  ['image("https://example.com/a.png")', 'a https: URL'],
  ['image({ image_url: "file:///etc/passwd" })', 'a file: URL'],
  ['image("/tmp/a.png")', 'a text that is no URL'],
  [`image("${PNG}")`, 'a text that is no URL'],
  ['image("data:image/png,abc")', 'a data: URL that is not base64'],
  ['image("data:image/png;base64,AAA!")', 'not decodable as base64'],
  [`image("data:image/png;base64,${PNG}\\0")`, 'not decodable as base64'],
  [`image("data:image/png;base64,${PNG}\\ud800")`, 'not decodable as base64'],
  ['image("data:image/png;base64,AA=A")', 'not decodable as base64'],
  [`image("data:image/png;base64,${PNG.slice(0, -1)}")`, 'truncated base64'],
  [`image("data:image/png;base64,${PNG.slice(0, 40)}")`, 'the start of a file (image/png)'],
  ['image("data:image/png;base64,")', 'empty'],
  [`image("data:image/svg+xml;base64,${base64('<svg/>')}")`, 'a file of another type'],
  [`image("data:image/png;base64,${base64('OggS')}")`, 'a file of another type'],
  [`audio("data:audio/wav;base64,${PNG}")`, 'a file of another type'],
  ['audio("http://example.com/a.mp3")', 'a http: URL'],
  ['image()', 'of type undefined'],
  ['image(null)', 'null'],
  ['image(5)', 'of type number'],
  ['image({ type: "image" })', 'another object'],
  ['image([1])', 'another object'],
])('refuses %s', async (source, problem) => {
  const result = await pool.run(`try { ${source} } catch (e) { text(e instanceof TypeError); throw e }`);
  expect(result.texts).toEqual(['true']);
  expect(result.media).toEqual([]);
  expect(result.failure?.message).toMatch(/^TypeError: (image|audio): expected a base64 data: URL/);
  expect(result.failure?.message).toContain(`, and this is ${problem}`);
});

it('counts files to the output limit by their characters', async () => {
  const source = `
    const big = "${PNG.slice(0, -16)}" + "AAAA".repeat(3e6) + "${PNG.slice(-16)}";
    image({ data: big }); try { image({ data: big }) } catch (e) { text(e.name + ': ' + e.message) }
    try { image("data:image/png;base64," + big.repeat(3)) } catch (e) { text(e.name) }`;
  const { texts, media } = await pool.run(source);
  expect(media[0]?.data.length).toBe(12_000_096);
  expect(texts[0]).toMatch(/^RangeError: output limit: 12000096 \+ 12000096 characters/);
  expect(texts[1]).toBe('RangeError');
  expect(media).toHaveLength(1);
});

it('keeps the order of texts and files, and ends where it must', async () => {
  const order: string[] = [];
  const source = `text('a'); image("data:;base64,${PNG}"); text('b'); image({ get image_url() { exit() } }); text('c')`;
  await pool.run(source, { onOutput: (item) => order.push(item.kind) });
  expect(order).toEqual(['text', 'image', 'text']);
});
