import { loadWorkerConfig } from '#libs/config';
import { startApp } from './app-process.js';
import { isReady } from './http.js';
import { KeepAlive, type Running } from './keep-alive.js';
import type { Progress } from './progress.js';
import { until } from './services/processes.js';
import { StartProblem } from './start-problem.js';

const READY_TIMEOUT_MS = 60_000;
/** What an app gets beyond its own time for stopping, before it is killed. */
const STOP_MARGIN_MS = 5_000;

/** What starting the apps needs to know. */
export interface AppsOptions {
  root: string;
  env: NodeJS.ProcessEnv;
  url: string;
  /** Where an app's messages go; undefined: to ours. */
  logFile: (app: string) => string | undefined;
  progress: Progress;
  /** An app runs again, under another process id. */
  onRestart: () => void;
}

/** One API and one worker process, kept alive. */
export class Apps implements AsyncDisposable {
  readonly #api: KeepAlive<Running>;
  readonly #worker: KeepAlive<Running>;
  readonly #drainMs: number;

  private constructor(api: KeepAlive<Running>, worker: KeepAlive<Running>, drainMs: number) {
    this.#api = api;
    this.#worker = worker;
    this.#drainMs = drainMs;
  }

  /** Starts both and waits until the API says that it is ready. @throws StartProblem that names the log */
  static async start(options: AppsOptions): Promise<Apps> {
    const { root, env, logFile, progress } = options;
    const { drainMs } = loadWorkerConfig(env).limits;
    const keep = (app: 'api' | 'worker', name: string): Promise<KeepAlive<Running>> =>
      KeepAlive.start({
        start: () => startApp({ app, root, env, logFile: logFile(app) }),
        onDeath: (code, pauseMs) => {
          const how = code === undefined ? 'could not be started' : `ended unexpectedly (exit code ${code})`;
          progress.line(`${name} ${how}; starting it again in ${pauseMs / 1000} s`);
        },
        onRestart: ({ pid }) => {
          progress.line(`${name} runs again (process ${pid})`);
          options.onRestart();
        },
      });
    const api = await keep('api', 'The API');
    const apps = new Apps(api, await keep('worker', 'The worker'), drainMs);
    const first = apps.pids;
    let died = false;
    void Promise.race([api.current.exited, apps.#worker.current.exited]).then(() => (died = true));
    if (!(await until(() => died || isReady(options.url), READY_TIMEOUT_MS)) || died) {
      const who = api.current.pid !== first.api || api.state !== 'running' ? 'api' : 'worker';
      await apps.stop(0);
      const place = logFile(who) === undefined ? 'above' : `at the end of ${logFile(who)}`;
      throw new StartProblem(`The ${who === 'api' ? 'API' : 'worker'} did not become ready. What it said is ${place}.`);
    }
    return apps;
  }

  get pids(): { api: number; workers: number[] } {
    return { api: this.#api.current.pid, workers: [this.#worker.current.pid] };
  }

  /** Ends both processes; they are started again as if they had died. For development, after a build. */
  restart(): void {
    for (const { current } of [this.#api, this.#worker]) void current.stop();
  }

  /** Stops both, with the time that the worker's configuration gives to running cells, or `graceMs`. */
  async stop(graceMs = this.#drainMs + STOP_MARGIN_MS): Promise<void> {
    await Promise.all([this.#api.stop(graceMs), this.#worker.stop(graceMs)]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
