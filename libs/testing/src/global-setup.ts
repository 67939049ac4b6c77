import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../../prisma/migrate.js';
import { administer, databaseUrlOf } from './admin.js';
import { startTestServices } from './services.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of any database of the server that the tests use. */
    databaseUrl: string;
    /** The name of the migrated database that test databases are copied from. */
    templateDatabase: string;
    redisUrl: string;
    ownRedis: boolean;
  }
}

/** Runs once before all tests: real services, and a migrated template. What it returns runs after them. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await startTestServices();
  const template = `cellar_template_${randomBytes(8).toString('hex')}`;
  await migrate(databaseUrlOf(services.databaseUrl, template));
  project.provide('databaseUrl', services.databaseUrl);
  project.provide('templateDatabase', template);
  project.provide('redisUrl', services.redisUrl);
  project.provide('ownRedis', services.ownRedis);
  return async () => {
    await administer(services.databaseUrl, `DROP DATABASE IF EXISTS ${template} WITH (FORCE)`);
    await services[Symbol.asyncDispose]();
  };
}
