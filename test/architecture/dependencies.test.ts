import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
const reportSchema = z.object({
  summary: z.object({ violations: z.array(z.object({ from: z.string(), rule: z.object({ name: z.string() }) })) }),
});

const forbidden: [rule: string, file: string, text: string][] = [
  ['core-imports', 'libs/core/src/v1.ts', "import { here } from '#libs/contracts';\nexport const a = here;"],
  ['config-imports', 'libs/config/src/v2.ts', "import { here } from '#libs/core';\nexport const a = here;"],
  ['queue-imports', 'libs/queue/src/v3.ts', "import { here } from '#libs/persistence';\nexport const a = here;"],
  [
    'queue-imports',
    'libs/queue/src/v4.ts',
    "import type { here } from '#libs/persistence';\nexport type A = typeof here;",
  ],
  ['unknown-library', 'libs/novel/src/index.ts', "import { here } from '#libs/core';\nexport const a = here;"],
  ['api-without-sandbox', 'apps/api/src/v5.ts', "import { here } from '#libs/sandbox';\nexport const a = here;"],
  ['apps-apart', 'apps/api/src/v6.ts', "export { b } from '../../worker/src/b.js';"],
  ['no-testing-in-src', 'apps/api/src/v7.ts', "import { here } from '#libs/testing';\nexport const a = here;"],
  ['libraries-by-name', 'apps/api/src/v8.ts', "export { inner } from '../../../libs/script/src/inner.js';"],
  ['no-circles', 'apps/api/src/c.ts', "import { c } from './circle.js';\nexport const a = c;"],
  ['resolvable', 'apps/api/src/v10.ts', "export { none } from './none.js';"],
  ['bullmq', 'apps/worker/src/v11.ts', "import type { Job } from 'bullmq';\nexport type A = Job;"],
  [
    'bullmq-types-in-processors',
    'apps/worker/src/v12.processor.ts',
    "import { Queue } from 'bullmq';\nexport const a = Queue;",
  ],
  ['ioredis', 'libs/persistence/src/v13.ts', "import { Redis } from 'ioredis';\nexport const a = Redis;"],
  ['prisma', 'apps/api/src/v14.ts', "import { PrismaPg } from '@prisma/adapter-pg';\nexport const a = PrismaPg;"],
  ['pg', 'apps/embedded/src/v15.ts', "import pg from 'pg';\nexport const a = pg;"],
  [
    'quickjs',
    'apps/worker/src/v16.ts',
    "import { getQuickJS } from 'quickjs-emscripten';\nexport const a = getQuickJS;",
  ],
  ['nest', 'libs/queue/src/v17.ts', "import { Module } from '@nestjs/common';\nexport const a = Module;"],
];

const allowed: Record<string, string> = {
  'libs/queue/src/fine.ts':
    "import { Queue } from 'bullmq';\nimport { here } from '#libs/core';\nexport const a = [Queue, here];",
  'libs/queue/src/fine.module.ts': "import { Module } from '@nestjs/common';\nexport const m = Module;",
  'libs/core/src/fine.test.ts': "import { here } from '#libs/testing';\nexport const a = here;",
  'apps/worker/src/fine.processor.ts': "import type { Job } from 'bullmq';\nexport type A = Job;",
  'apps/api/src/fine.ts': "import { here } from '#libs/persistence';\nexport const a = here;",
};

const partners: Record<string, string> = {
  'apps/worker/src/b.ts': 'export const b = 1;',
  'apps/api/src/circle.ts': "import { a } from './c.js';\nexport const c = a;",
  'libs/script/src/inner.ts': 'export const inner = 1;',
};

const folder = mkdtempSync(join(tmpdir(), 'cellar-rules-'));
let broken: { rule: string; from: string }[];

// One tree with every violation, cruised once under this repository's rules: a cruise takes seconds.
beforeAll(() => {
  const files = { ...allowed, ...partners };
  for (const [, file, text] of forbidden) files[file] = text;
  for (const name of [
    'core',
    'contracts',
    'config',
    'telemetry',
    'script',
    'sandbox',
    'queue',
    'persistence',
    'testing',
  ]) {
    files[`libs/${name}/src/index.ts`] = 'export const here = 1;';
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  for (const name of ['package.json', 'tsconfig.base.json', '.dependency-cruiser.cjs'])
    cpSync(join(root, name), join(folder, name));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const cruiser = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [cruiser, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'libs', 'apps'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  const { violations } = reportSchema.parse(JSON.parse(stdout)).summary;
  broken = violations.map(({ rule, from }) => ({ rule: rule.name, from }));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(forbidden)('%s: %s', (rule, file) => {
  expect(broken).toContainEqual({ rule, from: file });
});

test('what is allowed breaks no rule', () => {
  expect(broken.filter(({ from }) => from in allowed)).toEqual([]);
});
