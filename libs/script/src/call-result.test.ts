import { describe, expect, test } from 'vitest';
import { type CallValue, type ToolContent, type ToolResult, callValue } from './call-result.js';

const text = (value: string): ToolContent => ({ type: 'text', text: value });
const image: ToolContent = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
const audio: ToolContent = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' };
const result = (content: ToolContent[], more: Partial<ToolResult> = {}) => ({ result: { content, ...more } });
const ok = (value: unknown): CallValue => ({ ok: true, json: JSON.stringify(value) });
const no = (message: string): CallValue => ({ ok: false, message });

describe('without an output schema', () => {
  test.each<[what: string, content: ToolContent[], value: unknown]>([
    ['one text', [text('a')], 'a'],
    ['texts', [text('a'), text('b\0\ud800')], 'a\nb\0\ud800'],
    ['nothing', [], ''],
    ['one image', [image], { type: 'image', data: 'AAAA', mimeType: 'image/png' }],
    ['one image with texts', [text('a'), image, text('b')], { ...image, note: 'a\nb' }],
    ['two images', [image, text('a'), image], 'a'],
    ['an image and audio', [image, audio, text('a')], 'a'],
    ['a resource', [{ type: 'resource', resource: { uri: 'x:y', text: 'inside' } }], 'inside'],
    ['a resource without text', [{ type: 'resource', resource: { uri: 'x:y' } }], 'x:y'],
    ['a link', [text('see'), { type: 'resource_link', uri: 'x:y' }], 'see\nx:y'],
  ])('%s', (_what, content, value) => expect(callValue('t', result(content))).toEqual(ok(value)));

  test('a structured value beside the text is not looked at', () => {
    expect(callValue('t', result([text('a')], { structuredContent: { b: 1 } }))).toEqual(ok('a'));
  });

  test('a failed result rejects with its text', () => {
    expect(callValue('t', result([text('no luck')], { isError: true }))).toEqual(no('no luck'));
    expect(callValue('t', result([image], { isError: true }))).toEqual(no('tools.t failed and did not say why.'));
    expect(callValue('t', { error: { message: 'gone\0' } })).toEqual(no('gone\0'));
  });
});

describe('with an output schema', () => {
  const fault = (value: unknown) => (value === 1 ? undefined : '/a must be number');

  test('is the structured value, also of a failed result', () => {
    expect(callValue('t', result([text('x')], { structuredContent: 1 }), fault)).toEqual(ok(1));
    expect(callValue('t', result([text('x')], { structuredContent: 1, isError: true }), fault)).toEqual(ok(1));
  });

  test('rejects without a valid one, and names the path', () => {
    const message = 'tools.t gave a result that does not match its outputSchema: /a must be number';
    expect(callValue('t', result([], { structuredContent: 2 }), fault)).toEqual(no(message));
    expect(callValue('t', result([text('x')]), fault)).toMatchObject({ message: expect.stringContaining('missing') });
    expect(callValue('t', result([text('x')], { isError: true }), fault)).toEqual(no('x'));
    expect(callValue('t', { error: { message: 'gone' } }, fault)).toEqual(no('gone'));
  });
});
