import { z } from 'zod';

/** `POST /admin/tenants`. */
export const postTenantSchema = z.strictObject({ name: z.string().min(1).max(200) }).meta({ id: 'PostTenant' });
export const tenantSchema = z.object({ tenantId: z.string() }).meta({ id: 'Tenant' });

/** `POST /admin/tenants/{t}/keys`. */
export const postKeySchema = z
  .strictObject({
    name: z.string().min(1).max(200).optional(),
    expiresAt: z.iso.datetime({ offset: true }).optional().meta({ description: 'Left out: never.' }),
  })
  .meta({ id: 'PostKey' });
export const keySchema = z
  .object({ keyId: z.string(), key: z.string().meta({ description: 'Shown once. `cel_{keyId}_{secret}`.' }) })
  .meta({ id: 'Key' });

export type PostTenant = z.infer<typeof postTenantSchema>;
export type PostKey = z.infer<typeof postKeySchema>;
