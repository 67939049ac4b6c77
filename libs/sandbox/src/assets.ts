import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { limits } from '#libs/core';
import { exportTable } from './engine-binary.js';
import './webassembly.js';

const require = createRequire(import.meta.url);

/** The prelude's parts, in the order in which they become one function body. */
const PRELUDE_PARTS = [
  'intrinsics',
  'output',
  'media',
  'values',
  'timers',
  'tools',
  'inquiries',
  'random',
  'errors',
  'rejections',
  'harden',
  'main',
];

/** What every thread of a pool shares. */
export interface SandboxAssets {
  module: WebAssembly.Module;
  prelude: string;
  /** SHA-256 that the base image must have: the pin in image.json. */
  imageVersion: string;
  /** The built file that threads run. */
  threadEntry: URL;
}

/** Reads the engine, the prelude and the pin. Throws an Error that says what is missing. */
export async function loadAssets(): Promise<SandboxAssets> {
  const [engine, imageVersion] = await Promise.all([loadEngine(), readPin()]);
  return { ...engine, imageVersion, threadEntry: findThreadEntry() };
}

/** The compiled engine and the prelude's text: what the base image is made of. */
export async function loadEngine(): Promise<Pick<SandboxAssets, 'module' | 'prelude'>> {
  const [module, prelude] = await Promise.all([compileEngine(), readPrelude()]);
  return { module, prelude };
}

function pinPath(): string {
  return join(guestFolder(), '..', 'image.json');
}

function guestFolder(): string {
  return dirname(require.resolve('#guest/main.js'));
}

async function compileEngine(): Promise<WebAssembly.Module> {
  const fromPackage = createRequire(require.resolve('quickjs-emscripten'));
  const binary = await readFile(fromPackage.resolve('@jitl/quickjs-wasmfile-release-sync/wasm'));
  return WebAssembly.compile(exportTable(binary));
}

/** The prelude as one function of the host's `send` that gives `receive`. The limits are part of the base image. */
async function readPrelude(): Promise<string> {
  const folder = guestFolder();
  const parts = await Promise.all(PRELUDE_PARTS.map((part) => readFile(join(folder, `${part}.js`), 'utf8')));
  return `(function (send) {\n'use strict';\nconst limits = ${JSON.stringify(limits)};\n${parts.join('\n')}\nreturn receive;\n})`;
}

async function readPin(): Promise<string> {
  const pin = JSON.parse(await readFile(pinPath(), 'utf8')) as { version?: unknown };
  if (typeof pin.version !== 'string')
    throw new Error(`${pinPath()} has no "version"; run libs/sandbox/pin-image.mjs.`);
  return pin.version;
}

/** Node runs only built files in threads: beside this file in the build, and looked up there when this is source. */
function findThreadEntry(): URL {
  const entry = import.meta.url.endsWith('.ts')
    ? pathToFileURL(join(guestFolder(), '../../../dist/libs/sandbox/src/thread/main.js'))
    : new URL('./thread/main.js', import.meta.url);
  if (!existsSync(entry)) {
    throw new Error(
      `The sandbox threads have not been built (${entry.pathname}): run "npx tsc -b libs/sandbox" first.`,
    );
  }
  return entry;
}
