// `npm start`: from a fresh clone to a running Cellar. It installs and builds what is missing, then hands over to the
// compiled program. Plain JavaScript without dependencies, since it runs before there are any.
import { spawnSync } from 'node:child_process';
import { Problem, prepare, root } from '../../scripts/install.mjs';

try {
  prepare();
  console.log('Building');
  const { status } = spawnSync(process.execPath, ['scripts/build.mjs'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Problem('The build failed; what the compiler says is above.');
} catch (error) {
  console.error(error instanceof Problem ? error.message : error);
  process.exit(1);
}
const { main } = await import('../../dist/apps/embedded/src/main.js');
await main({ env: process.env, root, dev: process.argv.includes('--dev') });
