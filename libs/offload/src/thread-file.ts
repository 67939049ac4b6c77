import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The compiled file of a thread. Threads cannot run TypeScript, so that code which is itself run from its source
 * (tests) uses what was last built.
 *
 * @throws Error that says how to build when the file is not there.
 */
export function threadFile(name: string, from: string = import.meta.url): string {
  const folder = from.endsWith('.ts') ? '../../../dist/libs/offload/src/' : './';
  const file = fileURLToPath(new URL(`${folder}${name}.js`, from));
  if (!existsSync(file)) throw new Error(`${file} is not there: build first, with "npx tsc -b libs/offload".`);
  return file;
}
