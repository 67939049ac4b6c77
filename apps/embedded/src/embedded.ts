import { loadApiConfig, type EmbeddedConfig } from '#libs/config';
import { migrate } from '../../../prisma/migrate.js';
import { Apps } from './apps.js';
import { startBacking } from './backing.js';
import { devTenant } from './dev-tenant.js';
import { openHome } from './home.js';
import type { Progress } from './progress.js';
import { curlLine, runSample } from './sample.js';
import { openSecrets, saveSecrets } from './secrets.js';
import { freePort, isFree } from './services/free-port.js';
import { StartProblem } from './start-problem.js';

/** What the whole needs to know. */
export interface EmbeddedOptions {
  config: EmbeddedConfig;
  /** The environment that the apps inherit. */
  env: NodeJS.ProcessEnv;
  /** The clone's folder. */
  root: string;
  progress: Progress;
  /** Whether the apps' messages are shown instead of kept in files. */
  showLogs: boolean;
  /** Aborted when the start is to be given up. */
  signal: AbortSignal;
}

/** A whole Cellar on one machine. Disposing stops everything, in the reverse order of starting. */
export interface Embedded extends AsyncDisposable {
  readonly apps: Apps;
}

async function choosePort({ host, port }: EmbeddedConfig): Promise<number> {
  if (port === 0) return freePort();
  if (await isFree(port, host)) return port;
  throw new StartProblem(
    `Port ${port} on ${host} is taken by another program. End that one, or choose another port: PORT=${port + 1} npm start`,
  );
}

function urlOf(host: string, port: number): string {
  const name = ['0.0.0.0', '::', 'localhost'].includes(host) ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Brings everything up, runs the sample, and prints how to go on. What fails stops what was started. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { config, env, root, progress, showLogs, signal } = options;
  const started: (AsyncDisposable | Disposable)[] = [];
  const dispose = async (): Promise<void> => {
    for (const part of started.splice(0).reverse()) {
      if (Symbol.asyncDispose in part) await part[Symbol.asyncDispose]();
      else part[Symbol.dispose]();
    }
  };
  try {
    const home = openHome(config.home);
    started.push(home);
    const port = await choosePort(config);
    const secrets = openSecrets(home);
    secrets.adminKey = config.adminKey ?? secrets.adminKey;

    const keep = (service: AsyncDisposable): void => void started.push(service);
    const backing = await startBacking({ config, path: env['PATH'] ?? '', home, secrets, progress, keep });
    signal.throwIfAborted();
    await progress.step('Applying migrations', () => migrate(backing.databaseUrl));
    signal.throwIfAborted();

    const appEnv = {
      ...env,
      ...(config.secretKeys === undefined && { CELLAR_SECRET_KEY: secrets.secretKey }),
      HOST: config.host,
      DATABASE_URL: backing.databaseUrl,
      REDIS_URL: backing.redisUrl,
      CELLAR_ADMIN_KEY: secrets.adminKey,
      PORT: String(port),
    };
    const api = loadApiConfig(appEnv);
    const url = urlOf(config.host, port);
    let writeDevFile = (): void => undefined;
    const apps = await progress.step('Starting the API and a worker', () =>
      Apps.start({
        root,
        url,
        progress,
        env: appEnv,
        logFile: (app) => (showLogs ? undefined : home.file(`logs/${app}.log`)),
        onRestart: () => writeDevFile(),
      }),
    );
    started.push(apps);
    signal.throwIfAborted();

    const adminUrl = urlOf(config.host, api.opsPort ?? port);
    const { tenantId, apiKey } = await devTenant({ url, adminUrl, config: api, devKey: config.devKey, secrets });
    saveSecrets(home, { ...openSecrets(home), tenantId, apiKey });
    const output = await progress.step('Running a sample script', () => runSample(url, apiKey));
    writeDevFile = () => home.writeDevFile({ url, apiKey, adminKey: secrets.adminKey, pids: apps.pids });
    writeDevFile();

    progress.line(`\n${output.replace(/^/gm, '  ')}\n`);
    progress.line(`Cellar is ready at ${url}`);
    progress.line(`API key: ${apiKey}`);
    progress.line(`Try it:  ${curlLine(url, apiKey)}`);
    progress.line(`Data, keys and logs are in ${home.path}. Ctrl-C stops everything.`);
    return { apps, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
