import type { Guest } from './guest.js';

/** Instances that a thread keeps, each bound to one tenant. */
const KEPT = 8;

/**
 * The guests of one thread. Each is bound to the first tenant it serves; the least recently used one is given up when
 * there are too many, and one fresh guest is kept ready for the next new tenant (spec: protocols, rule 4).
 */
export class GuestShelf {
  private readonly bound = new Map<string, Guest>();
  private spare: Guest | undefined;

  constructor(
    first: Guest,
    private readonly make: () => Promise<Guest>,
  ) {
    this.spare = first;
  }

  /** The tenant's own guest, or a fresh one that is now the tenant's. */
  async take(tenantId: string): Promise<Guest> {
    const own = this.bound.get(tenantId);
    const guest = own ?? this.spare ?? (await this.make());
    if (guest === this.spare) this.spare = undefined;
    this.bound.delete(tenantId);
    this.bound.set(tenantId, guest);
    for (const tenant of this.bound.keys()) if (this.bound.size > KEPT) this.bound.delete(tenant);
    return guest;
  }

  /** Forgets a tenant's guest. */
  drop(tenantId: string): void {
    this.bound.delete(tenantId);
  }

  /** Makes the fresh guest when there is none. */
  async prepare(): Promise<void> {
    this.spare ??= await this.make();
  }

  /** Whether `prepare` would do something. */
  needsSpare(): boolean {
    return this.spare === undefined;
  }
}
