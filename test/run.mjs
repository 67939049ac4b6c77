// `npm test`: from a fresh clone to `N passed, N failed` on the last line. Installs, builds, runs every check and every
// test. The tests start their own Postgres and Redis, unless DATABASE_URL and REDIS_URL name ones that run already.
//
//   npm test                     everything
//   npm test -- libs/core        only the tests whose path has that in it
//   npm run check                only the checks
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Problem, prepare, root } from '../scripts/install.mjs';

/** Each counts as one: a name, and a program of node_modules (or a file of ours) with its arguments. */
const CHECKS = [
  ['format (npm run format mends it)', 'node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.'],
  ['lint', 'node_modules/oxlint/bin/oxlint'],
  [
    'who may import whom',
    'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
    '--config',
    '.dependency-cruiser.cjs',
    'libs',
    'apps',
    'prisma',
    'test',
  ],
  ['nothing unused', 'node_modules/knip/bin/knip.js', '--no-progress'],
  ['types of the tests', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.test.json'],
  ['openapi.json (npm run openapi mends it)', 'dist/apps/api/src/openapi-file.js', '--check'],
];

const args = process.argv.slice(2);
const filters = args.filter((arg) => arg !== '--checks');
const count = { passed: 0, failed: 0 };
const failures = [];

function settle(name, ok, said = '') {
  count[ok ? 'passed' : 'failed'] += 1;
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`);
  if (ok) return;
  failures.push(name);
  if (said) console.log(said.trimEnd().replace(/^/gm, '       '));
}

function runChecks() {
  for (const [name, file, ...rest] of CHECKS) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...rest], { cwd: root, encoding: 'utf8' });
    settle(name, status === 0, `${stdout}${stderr}`);
  }
}

/** Every test of vitest's report counts, and every file that could not be loaded, and errors outside of tests. */
function countTests(report, exitCode) {
  for (const file of report.testResults) {
    const name = file.name.replace(root, '');
    for (const { status, fullName } of file.assertionResults) {
      if (status === 'passed') count.passed += 1;
      else settle(`${name}: ${fullName}${status === 'failed' ? '' : ` (${status})`}`, false);
    }
    const failed = file.assertionResults.some(({ status }) => status === 'failed');
    if (file.status === 'failed' && !failed)
      settle(`${name}: ${file.message || 'it failed outside of its tests'}`, false);
  }
  if (report.numTotalTests === 0) settle('there are tests', false);
  if (exitCode !== 0 && count.failed === 0)
    settle('no error outside of the tests', false, 'See what vitest says above.');
}

function runTests() {
  const folder = mkdtempSync(join(tmpdir(), 'cellar-report-'));
  const output = join(folder, 'report.json');
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${output}`,
  ];
  const { status } = spawnSync(process.execPath, [...vitest, ...filters], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (existsSync(output)) countTests(JSON.parse(readFileSync(output, 'utf8')), status);
  else settle('vitest', false, 'It ended without a report; what it says is above.');
  rmSync(folder, { recursive: true, force: true });
}

try {
  prepare();
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  settle('build', status === 0);
  if (status === 0) {
    if (filters.length === 0) runChecks();
    if (!args.includes('--checks')) runTests();
  }
} catch (error) {
  settle('prepare', false, error instanceof Problem ? error.message : String(error?.stack ?? error));
}
if (failures.length > 0) console.log(`\nFailed:\n${failures.map((name) => `  ${name}`).join('\n')}`);
console.log(`\n${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed > 0 ? 1 : 0;
