import { availableParallelism, cpus, totalmem } from 'node:os';
import { readFileSync } from 'node:fs';
import { execOverHttp } from './scenarios/exec-over-http.mjs';
import { pool } from './scenarios/pool.mjs';
import { waiting } from './scenarios/waiting.mjs';

// npm run bench [-- SCENARIO...]: prints figures and ratios, peers measured in the same run. All by default.
const scenarios = { pool, waiting, 'exec-over-http': execOverHttp };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in scenarios));
if (unknown.length > 0) {
  console.error(`There is no scenario ${unknown.join(', ')}. There are: ${Object.keys(scenarios).join(', ')}.`);
  process.exit(2);
}
const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
console.log(
  `${cpus()[0]?.model}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ` +
    `bullmq ${dependencies.bullmq}, quickjs-emscripten ${dependencies['quickjs-emscripten']}, run ${devDependencies.run}`,
);
for (const [name, scenario] of Object.entries(scenarios)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n${name}`);
  for (const [row, values] of Object.entries(await scenario())) console.log(`  ${row}: ${JSON.stringify(values)}`);
}
