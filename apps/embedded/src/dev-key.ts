import { timingSafeEqual } from 'node:crypto';
import { deriveKey, type ApiConfig } from '#libs/config';
import { hashApiKey } from '#libs/core';
import { addKey, Database, findKey } from '#libs/persistence';
import { StartProblem } from './start-problem.js';

/**
 * Makes a key that was chosen by the one who starts Cellar (CELLAR_DEV_KEY) one of the development tenant's. The admin
 * routes make only keys of their own choice, so it is written to the database as the API would write it.
 *
 * @param newTenant makes the tenant, if the key needs one.
 * @returns the tenant whose key it is.
 * @throws StartProblem when the key's id is another key's.
 */
export async function ensureDevKey(config: ApiConfig, key: string, newTenant: () => Promise<string>): Promise<string> {
  const keyId = key.split('_')[1] ?? '';
  const hash = hashApiKey(key, deriveKey(config.secretKeys, 'api-key-pepper').current.key);
  await using db = new Database({ url: config.database.url, poolSize: 2, applicationName: 'cellar-start' });
  const row = await findKey(db, keyId);
  if (row === undefined) {
    const tenantId = await newTenant();
    await addKey(db, { keyId, tenantId, name: 'CELLAR_DEV_KEY', hash });
    return tenantId;
  }
  if (row.hash.length === hash.length && timingSafeEqual(row.hash, hash)) return row.tenantId;
  throw new StartProblem(
    `CELLAR_DEV_KEY has the id ${keyId}, and this database knows another key of that id. Choose another id: cel_{id}_{secret}`,
  );
}
