import type { ApiConfig } from '#libs/config';
import { z } from 'zod';
import { ensureDevKey } from './dev-key.js';
import { client, HttpFailure } from './http.js';
import type { Secrets } from './secrets.js';

const tenantSchema = z.object({ tenantId: z.string() });
const keySchema = z.object({ key: z.string() });

/** Whether the API takes a key. Another database than last time, say, does not know it. */
async function works(url: string, key: string): Promise<boolean> {
  try {
    await client(url, key).send('GET', '/v1/conversations/sample', undefined, z.unknown());
    return true;
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error;
    return error.status === 404;
  }
}

/** What making the development tenant needs to know. */
export interface DevTenantOptions {
  url: string;
  /** Where the admin routes are. */
  adminUrl: string;
  /** As the API read it. */
  config: ApiConfig;
  /** The key of CELLAR_DEV_KEY. */
  devKey: string | undefined;
  secrets: Secrets;
}

/** The development tenant and a key of it that works: the chosen one, that of the last start, or a new one. */
export async function devTenant(options: DevTenantOptions): Promise<{ tenantId: string; apiKey: string }> {
  const { url, adminUrl, config, devKey, secrets } = options;
  const { tenantId, apiKey } = secrets;
  const admin = client(adminUrl, config.adminKey);
  const known = tenantId !== undefined && apiKey !== undefined && (await works(url, apiKey));
  const newTenant = async (): Promise<string> =>
    known ? tenantId : (await admin.send('POST', '/admin/tenants', { name: 'dev' }, tenantSchema)).tenantId;
  if (devKey !== undefined) return { tenantId: await ensureDevKey(config, devKey, newTenant), apiKey: devKey };
  if (known) return { tenantId, apiKey };
  const made = await newTenant();
  const { key } = await admin.send('POST', `/admin/tenants/${made}/keys`, { name: 'npm start' }, keySchema);
  return { tenantId: made, apiKey: key };
}
