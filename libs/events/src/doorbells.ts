import { type CarriedEnd, type Doorbell, MAX_CARRIED_CHARS, doorbellSchema } from '#libs/contracts';
import { UnavailableError } from '#libs/core';
import { Redis } from 'ioredis';

export interface DoorbellOptions {
  url: string;
  /** Prefix of all channels, with a hash tag. */
  prefix: string;
  /** This process: it listens on a channel of its own. */
  processId: string;
  /** Told of what goes wrong; the connections mend themselves. */
  onProblem: (what: string, cause: unknown) => void;
}

/** Receives what other processes tell this one. */
export interface DoorbellListener {
  ring(bell: Doorbell): void;
  /** The subscription is there (again): bells may have been missed, so look at everything that is waited for. */
  resubscribed(): void;
}

/**
 * Pub/sub between processes. Each process has one channel, so a subscription costs nothing on the way of a cell. A
 * message only says where to look (9. Protocols, 21 and 22): ringing never fails and never waits.
 */
export class Doorbells implements AsyncDisposable {
  readonly #options: DoorbellOptions;
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  #listener: DoorbellListener | undefined;

  constructor(options: DoorbellOptions) {
    this.#options = options;
    const shared = {
      lazyConnect: true,
      connectionName: options.processId,
      retryStrategy: (times: number) => Math.min(50 * times, 1_000),
    };
    this.#publisher = new Redis(options.url, { ...shared, maxRetriesPerRequest: 1, enableOfflineQueue: false });
    this.#subscriber = new Redis(options.url, { ...shared, maxRetriesPerRequest: null });
    for (const connection of [this.#publisher, this.#subscriber]) {
      connection.on('error', (cause) => options.onProblem('the connection to Redis broke', cause));
    }
    this.#subscriber.on('message', (_channel, text) => this.#receive(text));
    this.#subscriber.on('ready', () => void this.#subscribe());
  }

  /** Subscribes and begins to listen. Resolves when the subscription is there: subscribe first, then look. */
  async listen(listener: DoorbellListener): Promise<void> {
    this.#listener = listener;
    const subscribed = new Promise<void>((resolve) => this.#subscriber.once('subscribed-own-channel', resolve));
    await Promise.all([this.#publisher.connect(), this.#subscriber.connect(), subscribed]);
  }

  /** Tells another process where to look. */
  ring(processId: string, bell: Doorbell): void {
    this.#publisher
      .publish(this.#channel(processId), JSON.stringify(bell))
      .catch((cause: unknown) => this.#options.onProblem('a doorbell was not rung', cause));
  }

  /**
   * Tells the process that observes a cell that its row has news. `observer` is `{process id}.{token}`. An end rides
   * along when it is small, and saves the observer the read.
   */
  ringObserver(cellId: string, observer: string, end?: CarriedEnd): void {
    const [processId = ''] = observer.split('.');
    const bell: Doorbell = { kind: 'cell', cellId, token: observer };
    const carries = end !== undefined && JSON.stringify(end).length <= MAX_CARRIED_CHARS;
    this.ring(processId, carries ? { ...bell, end } : bell);
  }

  /** Rejects with {@link UnavailableError} when Redis does not answer, or this process is not subscribed. */
  async ping(): Promise<void> {
    try {
      await this.#publisher.ping();
      if (this.#subscriber.status !== 'ready') throw new Error(`the subscriber is ${this.#subscriber.status}`);
    } catch (cause) {
      throw new UnavailableError('Redis', { cause });
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#listener = undefined;
    this.#publisher.disconnect();
    this.#subscriber.disconnect();
    return Promise.resolve();
  }

  #channel(processId: string): string {
    return `${this.#options.prefix}:door:${processId}`;
  }

  async #subscribe(): Promise<void> {
    try {
      await this.#subscriber.subscribe(this.#channel(this.#options.processId));
      this.#subscriber.emit('subscribed-own-channel');
      this.#listener?.resubscribed();
    } catch (cause) {
      this.#options.onProblem('the subscription failed', cause);
    }
  }

  #receive(text: string): void {
    const bell = parse(text);
    if (bell) this.#listener?.ring(bell);
    else this.#options.onProblem('a doorbell was not understood', text.slice(0, 200));
  }
}

function parse(text: string): Doorbell | undefined {
  try {
    return doorbellSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
