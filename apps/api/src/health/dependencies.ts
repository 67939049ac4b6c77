import { Doorbells } from '#libs/events';
import { Database } from '#libs/persistence';
import { CellQueue } from '#libs/queue';
import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorFunction } from '@nestjs/terminus';
import { within } from '../within.js';

/** A probe gives up soon; so does the question behind it, in ms. */
const PING_TIMEOUT_MS = 2_000;

/** Whether what this process works with can be reached. */
@Injectable()
export class Dependencies {
  constructor(
    private readonly db: Database,
    private readonly doorbells: Doorbells,
    private readonly queue: CellQueue,
    private readonly indicators: HealthIndicatorService,
  ) {}

  checks(): HealthIndicatorFunction[] {
    return [
      this.#check('Postgres', () => this.db.ping()),
      this.#check('Redis', async () => {
        await Promise.all([this.doorbells.ping(), this.queue.ping()]);
      }),
    ];
  }

  #check(name: string, ping: () => Promise<void>): HealthIndicatorFunction {
    return async () => {
      const indicator = this.indicators.check(name);
      try {
        await within(PING_TIMEOUT_MS, ping());
        return indicator.up();
      } catch {
        return indicator.down();
      }
    };
  }
}
