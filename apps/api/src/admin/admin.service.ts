import { hashApiKey } from '#libs/core';
import { type ApiConfig, type SecretKey, deriveKey } from '#libs/config';
import type { PostKey, PostTenant } from '#libs/contracts';
import { Database, addKey, createTenant } from '#libs/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { newApiKey } from '../http/api-key.js';
import { API_CONFIG } from '../tokens.js';

/** What the operator does: tenants and their keys. */
@Injectable()
export class AdminService {
  readonly #pepper: SecretKey;

  constructor(
    private readonly db: Database,
    @Inject(API_CONFIG) config: ApiConfig,
  ) {
    this.#pepper = deriveKey(config.secretKeys, 'api-key-pepper').current;
  }

  async createTenant({ name }: PostTenant): Promise<{ tenantId: string }> {
    return { tenantId: await createTenant(this.db, name) };
  }

  /** Throws NotFoundError for an unknown tenant. */
  async createKey(tenantId: string, { name, expiresAt }: PostKey): Promise<{ keyId: string; key: string }> {
    const made = newApiKey();
    await addKey(this.db, {
      keyId: made.keyId,
      tenantId,
      name,
      hash: hashApiKey(made.key, this.#pepper.key),
      expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt),
    });
    return made;
  }
}
