#!/usr/bin/env node
// Plays files of cases against a running Cellar: node test/conformance/run.mjs --url URL --key KEY FILE... [--only TEXT]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { play, registerTools } from './play.mjs';

const { values, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { url: { type: 'string' }, key: { type: 'string' }, only: { type: 'string', default: '' } },
});
if (!values.url || !values.key || files.length === 0) {
  console.error('usage: run.mjs --url URL --key KEY FILE... [--only TEXT]');
  process.exit(2);
}
const server = { url: values.url, key: values.key };
let passed = 0;
let failed = 0;
await registerTools(server);
for (const test of files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')))) {
  if (!test.name.includes(values.only)) continue;
  const problems = await play(server, test).catch((error) => [`threw ${error}`]);
  if (problems.length === 0) passed++;
  else {
    failed++;
    console.log(`FAILED ${test.name}\n  ${problems.join('\n  ')}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
