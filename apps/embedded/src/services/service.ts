import type { Guarded } from './guard.js';

/** A server that was started here, ready to be used. Disposing of it stops it. */
export interface Service extends Guarded, AsyncDisposable {
  /** With user and password, as DATABASE_URL or REDIS_URL take it. */
  readonly url: string;
  readonly port: number;
}
