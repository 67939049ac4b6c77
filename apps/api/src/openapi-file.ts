import 'reflect-metadata';
import { loadApiConfig } from '#libs/config';
import { createLogger } from '#libs/telemetry';
import { NestFactory } from '@nestjs/core';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { AppModule } from './app.module.js';
import { createAdapter } from './http/server.js';
import { openApiDocument } from './openapi.js';

/** Nothing is connected to and nothing is secret: routes are looked at, not run. */
const NO_SERVICES = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1/nothing',
  REDIS_URL: 'redis://127.0.0.1',
  CELLAR_ADMIN_KEY: 'no-operator',
  CELLAR_SECRET_KEY: `none:${Buffer.alloc(32).toString('base64')}`,
};

/** `npm run openapi` writes openapi.json at the root; with `--check` it only says whether the file is up to date. */
async function main(check: boolean): Promise<void> {
  const logger = createLogger({ name: 'openapi', level: 'silent' });
  const module = AppModule.register(loadApiConfig(NO_SERVICES), logger);
  const app = await NestFactory.create(module, createAdapter(), { preview: true, logger: false, abortOnError: false });
  const made = `${JSON.stringify(openApiDocument(app), undefined, 2)}\n`;
  const file = join(dirname(createRequire(import.meta.url).resolve('#libs/core')), '../../../../openapi.json');
  if (!check) return writeFile(file, made);
  if ((await readFile(file, 'utf8').catch(() => '')) === made) return;
  process.stderr.write('openapi.json does not agree with the routes: run "npm run openapi" and commit it.\n');
  process.exitCode = 1;
}

await main(process.argv.includes('--check'));
