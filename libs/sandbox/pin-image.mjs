// Pins the base image that the present build makes, after a change of the engine, the prelude or the limits:
//   npx tsc -b libs/sandbox && node libs/sandbox/pin-image.mjs
// With --check nothing is written; the exit code is 1 when the pin is not right.
import { readFileSync, writeFileSync } from 'node:fs';
import { computeImageVersion } from '../../dist/libs/sandbox/src/image-version.js';

const file = new URL('./image.json', import.meta.url);
const version = await computeImageVersion();
const pinned = JSON.parse(readFileSync(file, 'utf8'));
if (pinned.version === version) {
  console.log(`The pin is right: ${version}`);
} else if (process.argv.includes('--check')) {
  console.error(`Pinned is ${pinned.version}, and this build makes ${version} (Node ${process.version}).`);
  process.exitCode = 1;
} else {
  const note = 'SHA-256 of the base image that every script starts from. Written by libs/sandbox/pin-image.mjs.';
  writeFileSync(file, `${JSON.stringify({ version, note }, null, 2)}\n`);
  console.log(`Pinned ${version}`);
}
