import { z } from 'zod';
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

/** The development tenant and a key of it that works: those of the last start, or new ones. */
export async function devTenant(url: string, secrets: Secrets): Promise<{ tenantId: string; apiKey: string }> {
  const { tenantId, apiKey } = secrets;
  if (tenantId !== undefined && apiKey !== undefined && (await works(url, apiKey))) return { tenantId, apiKey };
  const admin = client(url, secrets.adminKey);
  const made = await admin.send('POST', '/admin/tenants', { name: 'dev' }, tenantSchema);
  const { key } = await admin.send('POST', `/admin/tenants/${made.tenantId}/keys`, { name: 'npm start' }, keySchema);
  return { tenantId: made.tenantId, apiKey: key };
}
