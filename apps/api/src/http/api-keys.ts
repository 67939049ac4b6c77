import { type ApiConfig, type DerivedKeys, deriveKey } from '#libs/config';
import { type Clock, TenantSuspendedError, UnauthorizedError } from '#libs/core';
import { Database, type KeyRow, findKey } from '#libs/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { API_CONFIG, CLOCK } from '../tokens.js';
import { bearerOf, keyIdOf, matchesHash } from './api-key.js';
import { TtlCache } from './ttl-cache.js';

/** What is known of a key lives this long, in ms: so soon does a suspended tenant notice (9. Protocols, 23). */
const KEY_TTL_MS = 5_000;
const MAX_KEYS = 10_000;
/** Compared with when there is no such key, so that an unknown id takes as long as a wrong secret. */
const NO_HASH = new Uint8Array(32);

/** Who may act for which tenant. */
@Injectable()
export class ApiKeys {
  readonly #peppers: DerivedKeys;
  readonly #cache: TtlCache<KeyRow | undefined>;

  constructor(
    private readonly db: Database,
    @Inject(API_CONFIG) config: ApiConfig,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    this.#peppers = deriveKey(config.secretKeys, 'api-key-pepper');
    this.#cache = new TtlCache(clock, { ttlMs: KEY_TTL_MS, maxEntries: MAX_KEYS });
  }

  /** The tenant whose key the header holds. Throws UnauthorizedError, TenantSuspendedError. */
  async tenantOf(authorization: string | undefined): Promise<string> {
    const key = bearerOf(authorization);
    if (key === undefined) throw new UnauthorizedError('Send a key in the header "authorization: Bearer cel_...".');
    const keyId = keyIdOf(key);
    if (keyId === undefined) throw new UnauthorizedError('The key does not have the form cel_{keyId}_{secret}.');
    const row = await this.#cache.get(keyId, () => findKey(this.db, keyId));
    const matches = matchesHash(key, row?.hash ?? NO_HASH, this.#peppers.candidates);
    if (!row || !matches) throw new UnauthorizedError('There is no such key.');
    if (row.expiresAt !== null && row.expiresAt.getTime() <= this.clock.now()) {
      throw new UnauthorizedError('The key has expired.');
    }
    if (row.tenantSuspended) throw new TenantSuspendedError('The operator has suspended this tenant.');
    return row.tenantId;
  }
}
