import { readFileSync } from 'node:fs';
import { CELL_ERROR_CODES } from '#libs/core';
import { describe, expect, it } from 'vitest';
import { problemKinds } from '../../apps/api/src/http/problems.js';

describe('docs/errors.md', () => {
  const rows = readFileSync('docs/errors.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'));

  it('has each code with its status, and no other', () => {
    const written = rows.map((row) => row.split('|')[1]?.trim().replaceAll('`', ''));
    const problems = Object.keys(problemKinds).filter((code) => code !== 'client_gone');
    expect(written).toEqual(expect.arrayContaining([...problems, ...CELL_ERROR_CODES]));
    expect(
      written.filter((code) => !problems.includes(code ?? '') && !CELL_ERROR_CODES.includes(code as never)),
    ).toEqual([]);
    for (const code of problems) {
      const row = rows.find((line) => line.startsWith(`| \`${code}\``));
      expect(row?.split('|')[2]?.trim()).toBe(String(problemKinds[code as keyof typeof problemKinds].status));
    }
  });
});
