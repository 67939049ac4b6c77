import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJsonBody } from './json-body.js';

const read = (text: string) => readJsonBody(Buffer.from(text), undefined);

describe('readJsonBody', () => {
  it('reads what JSON holds, to the last odd character', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        expect(read(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(read(String.raw`{"a":"\u0000\ud800"}`)).toEqual({ a: '\0\ud800' });
  });

  it('takes an empty body as none', () => {
    expect(read('')).toBeUndefined();
  });

  it.each(['{', '{"a":}', "{'a':1}", '\ufeff', 'undefined', '{"a":1}}', '{"a":1e}'])('refuses %j', (text) => {
    expect(() => read(text)).toThrow(/not JSON/);
  });

  it('refuses what is not UTF-8', () => {
    expect(() => readJsonBody(Buffer.from([0x22, 0xff, 0x22]), undefined)).toThrow(/not UTF-8/);
  });

  it('refuses a body that is encoded', () => {
    expect(() => readJsonBody(Buffer.from('{}'), 'gzip')).toThrow(/gzip/);
    expect(readJsonBody(Buffer.from('{}'), 'Identity')).toEqual({});
  });

  it.each(['{"__proto__":{"a":1}}', '{"a":[{"__proto__":null}]}', String.raw`{"\u005f_proto__":1}`])(
    'refuses %s',
    (text) => {
      expect(() => read(text)).toThrow(/__proto__/);
    },
  );

  it('keeps a constructor field', () => {
    expect(read('{"constructor":{"prototype":1}}')).toEqual({ constructor: { prototype: 1 } });
  });

  it('refuses a body that is nested too deep, without falling over', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(() => read(nested(100))).not.toThrow();
    expect(() => read(nested(101))).toThrow(/nested more than 100/);
    expect(() => read('{"a":'.repeat(200_000) + '1' + '}'.repeat(200_000))).toThrow(/nested more than 100/);
  });
});
