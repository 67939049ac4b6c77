import type { ApiConfig } from '#libs/config';
import { Doorbells } from '#libs/events';
import { Database } from '#libs/persistence';
import { CellQueue } from '#libs/queue';
import { Events, type Logger, NestLogger } from '#libs/telemetry';
import { Upkeep } from '#libs/upkeep';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { CellObserver } from './cells/cell-observer.js';
import { CellStopper } from './cells/cell-stopper.js';
import { serveDocs } from './docs.js';
import { doorbellListener } from './doorbell-listener.js';
import { ApiKeys } from './http/api-keys.js';
import { Draining } from './http/draining.js';
import { OpsListener } from './http/ops-listener.js';
import { OpsRequests } from './http/ops-requests.js';
import { ProblemFilter } from './http/problem.filter.js';
import { SchemaPipe } from './http/schema.pipe.js';
import { addHooks, createAdapter } from './http/server.js';
import { TracingInterceptor } from './http/tracing.interceptor.js';
import { API_CONFIG, OFFLOAD } from './tokens.js';
import { within } from './within.js';

/** Redis may be away at the start: the API listens all the same, is not ready, and goes on trying. In ms. */
const FIRST_SUBSCRIPTION_MS = 5_000;
/** Each adapter gets this long to let go, in ms: without Redis some would never. */
const LET_GO_MS = 3_000;

/** One API process: `starting -> serving -> draining -> stopped`. */
export class Api implements AsyncDisposable {
  readonly url: string;
  readonly opsUrl: string | undefined;
  readonly #app: NestFastifyApplication;
  readonly #ops: OpsListener | undefined;

  private constructor(app: NestFastifyApplication, url: string, ops: OpsListener | undefined) {
    this.#app = app;
    this.#ops = ops;
    this.url = url;
    this.opsUrl = ops?.url;
  }

  /** Resolves when it listens. */
  static async start(config: ApiConfig, logger: Logger): Promise<Api> {
    const { host, port, opsPort } = config;
    const requests = new OpsRequests(opsPort !== undefined);
    const app = await createApp(config, logger, requests);
    try {
      await subscribe(app);
      await app.listen(port, host);
      const server = app.getHttpAdapter().getInstance();
      const ops = opsPort === undefined ? undefined : { host, port: opsPort };
      const listener = ops && (await OpsListener.start(ops, requests, (req, res) => server.routing(req, res)));
      app.get(Upkeep).start();
      return new Api(app, await app.getUrl(), listener);
    } catch (error) {
      await letGo(app);
      throw error;
    }
  }

  /** Takes no more work, answers what is observed, and lets go of everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    const app = this.#app;
    const { drainMs } = app.get<ApiConfig>(API_CONFIG).limits;
    app.get(Draining).begin();
    app.get(CellObserver).drain();
    await step(app, 'requests were not answered in time', drainMs, () => app.getHttpAdapter().getInstance().close());
    await step(app, 'the port of the operator was not closed', LET_GO_MS, () => this.#ops?.[Symbol.asyncDispose]());
    await letGo(app);
  }
}

async function createApp(config: ApiConfig, logger: Logger, requests: OpsRequests): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.register(config, logger), createAdapter(), {
    logger: new NestLogger(logger),
    abortOnError: false,
    bodyParser: false,
  });
  const events = app.get(Events);
  const server = app.getHttpAdapter().getInstance();
  const { adminKey, tracing } = config;
  addHooks(server, { apiKeys: app.get(ApiKeys), adminKey, draining: app.get(Draining), ops: requests, events });
  serveDocs(app, server);
  app.useGlobalPipes(new SchemaPipe());
  app.useGlobalFilters(new ProblemFilter(events));
  if (tracing) app.useGlobalInterceptors(new TracingInterceptor());
  return app;
}

/** Subscribe first: no cell is observed before its doorbell is heard. */
async function subscribe(app: NestFastifyApplication): Promise<void> {
  const listener = doorbellListener(app.get(CellObserver), app.get(CellStopper));
  const subscribed = app.get(Doorbells).listen(listener);
  await step(app, 'Redis could not be subscribed to yet', FIRST_SUBSCRIPTION_MS, () => subscribed);
}

/** Redis before Postgres: marks of answers that were just written still have to get there. */
async function letGo(app: NestFastifyApplication): Promise<void> {
  const end = (owner: symbol | Type<AsyncDisposable>): Promise<void> =>
    step(app, `${typeof owner === 'symbol' ? owner.description : owner.name} did not end`, LET_GO_MS, () =>
      app.get<AsyncDisposable>(owner)[Symbol.asyncDispose](),
    );
  for (const owner of [Upkeep, CellObserver, CellQueue]) await end(owner);
  await step(app, 'Nest did not end', LET_GO_MS, () => app.close());
  for (const owner of [Doorbells, OFFLOAD, Database]) await end(owner);
}

/** One step that must neither fail nor stop the others. */
async function step(
  app: NestFastifyApplication,
  failure: string,
  timeoutMs: number,
  work: () => PromiseLike<unknown> | undefined,
): Promise<void> {
  try {
    await within(timeoutMs, Promise.resolve(work()));
  } catch (error) {
    app.get(Events).faulted(failure, error);
  }
}
