import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CellarClient, Cluster } from '../../libs/testing/src/index.js';
import { type Case, play, registerTools } from './play.mjs';

const folder = join(import.meta.dirname, 'cases');
const cases = readdirSync(folder).flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case[]);

describe('conformance', () => {
  let cluster: Cluster;
  let server: CellarClient;
  beforeAll(async () => {
    cluster = await Cluster.start();
    server = await cluster.tenant();
    await registerTools(server);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(cases)('$group: $name', async (test) => {
    expect(await play(server, test)).toEqual([]);
  });
});
