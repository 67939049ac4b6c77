import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const probe = z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const containerSchema = z.looseObject({
  image: z.string(),
  command: z.array(z.string()),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).default([]),
  securityContext: z.unknown(),
  resources: z.looseObject({ requests: z.record(z.string(), z.string()), limits: z.record(z.string(), z.string()) }),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
});
const podSchema = z.looseObject({
  automountServiceAccountToken: z.boolean(),
  terminationGracePeriodSeconds: z.number().optional(),
  securityContext: z.unknown(),
  containers: z.array(containerSchema).length(1),
});
const resourceSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z
    .looseObject({
      replicas: z.number().optional(),
      selector: z.unknown().optional(),
      template: z
        .looseObject({ metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }), spec: podSchema })
        .optional(),
    })
    .optional(),
  data: z.record(z.string(), z.string()).optional(),
});
type Resource = z.infer<typeof resourceSchema>;

/** What the cluster is given: rendered by kubectl where there is one, else put together from the listed files. */
function rendered(): Resource[] {
  const { status, stdout, stderr, error } = spawnSync('kubectl', ['kustomize', join(root, 'k8s')], {
    encoding: 'utf8',
  });
  if (error === undefined && status !== 0) throw new Error(stderr);
  const kustomization = z
    .looseObject({
      resources: z.array(z.string()),
      configMapGenerator: z.array(z.object({ name: z.string(), literals: z.array(z.string()) })),
    })
    .parse(parse(read('k8s/kustomization.yaml')));
  const texts = error === undefined ? [stdout] : kustomization.resources.map((file) => read(`k8s/${file}`));
  const documents = texts.flatMap((text) => parseAllDocuments(text)).map((document) => document.toJS() as unknown);
  if (error !== undefined) {
    for (const { name, literals } of kustomization.configMapGenerator) {
      const data = Object.fromEntries(literals.map((line) => line.split('=')));
      documents.push({ kind: 'ConfigMap', metadata: { name }, data });
    }
  }
  return documents.map((document) => resourceSchema.parse(document));
}

const resources = rendered();
const named = (kind: string, name: string): Resource | undefined =>
  resources.find((resource) => resource.kind === kind && resource.metadata.name === name);

describe('k8s', () => {
  test('holds the API, the workers, the migration job, and what goes with them', () => {
    const names = resources.map(
      ({ kind, metadata }) => `${kind} ${metadata.name.replace(/^cellar-\w{10}$/, 'cellar')}`,
    );
    expect(names.sort()).toEqual([
      'ConfigMap cellar',
      'Deployment cellar-api',
      'Deployment cellar-worker',
      'Job cellar-migrate',
      'PodDisruptionBudget cellar-api',
      'PodDisruptionBudget cellar-worker',
      'Service cellar-api',
      'ServiceAccount cellar',
    ]);
  });

  const pods = resources.flatMap(({ kind, metadata, spec }) =>
    spec?.template ? [{ kind, name: metadata.name, spec }] : [],
  );

  test.each(pods)('$name runs without rights it does not need', ({ spec }) => {
    const pod = podSchema.parse(spec.template?.spec);
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const container of pod.containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(Object.keys(container.resources.requests).sort()).toEqual(['cpu', 'memory']);
      expect(container.resources.limits).toHaveProperty('memory');
    }
  });

  test.each(pods)('$name runs files that the build makes, in the one image', ({ spec }) => {
    const [container] = podSchema.parse(spec.template?.spec).containers;
    expect(container?.image).toMatch(/^cellar(:|$)/);
    const files = container?.command.filter((word) => word.endsWith('.js')) ?? [];
    expect(files.length).toBeGreaterThan(0);
    for (const file of files)
      expect(existsSync(join(root, file.replace('dist/', '').replace(/\.js$/, '.ts')))).toBe(true);
  });

  test.each(['cellar-api', 'cellar-worker'])('%s is probed, drained and spread over two pods', (name) => {
    const { spec } = named('Deployment', name) ?? {};
    const pod = podSchema.parse(spec?.template?.spec);
    const [container] = pod.containers;
    expect(container?.startupProbe?.httpGet.path).toBe('/health/live');
    expect(container?.livenessProbe?.httpGet.path).toBe('/health/live');
    expect(container?.readinessProbe?.httpGet.path).toBe('/health/ready');
    const drainMs = Number(resources.find(({ kind }) => kind === 'ConfigMap')?.data?.['CELLAR_DRAIN_MS']);
    expect((pod.terminationGracePeriodSeconds ?? 0) * 1000).toBeGreaterThan(drainMs + 15_000);
    expect(spec?.replicas).toBe(2);
    expect(spec?.selector).toEqual({ matchLabels: { 'app.kubernetes.io/name': name } });
    expect(named('PodDisruptionBudget', name)?.spec?.selector).toEqual(spec?.selector);
  });

  test('metrics and admin routes are not behind the Service', () => {
    const [api] = podSchema.parse(named('Deployment', 'cellar-api')?.spec?.template?.spec).containers;
    expect(api?.env).toContainEqual({ name: 'CELLAR_OPS_PORT', value: '9090' });
    expect(named('Service', 'cellar-api')?.spec).toMatchObject({ ports: [{ targetPort: 'http' }] });
  });
});

describe('docker-compose.yml', () => {
  const service = z.looseObject({
    image: z.string(),
    command: z.array(z.string()).optional(),
    environment: z.record(z.string(), z.unknown()).optional(),
    depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
    deploy: z.object({ replicas: z.number() }).optional(),
    healthcheck: z.unknown().optional(),
    stop_grace_period: z.string().optional(),
  });
  const composeSchema = z.looseObject({ services: z.record(z.string(), service) });
  const compose = composeSchema.parse(parse(read('docker-compose.yml'), { merge: true }));

  test('holds Postgres, Redis, the migration job, the API and two workers', () => {
    expect(Object.keys(compose.services).sort()).toEqual(['api', 'migrate', 'postgres', 'redis', 'worker']);
    expect(compose.services['worker']?.deploy).toEqual({ replicas: 2 });
    expect(compose.services['postgres']?.image).toBe('postgres:17');
  });

  test('Redis evicts nothing and keeps what it accepted', () => {
    const command = compose.services['redis']?.command?.join(' ');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(command).toContain('--appendonly yes');
  });

  test('the apps start on a migrated database, without rights they do not need', () => {
    for (const name of ['api', 'worker']) {
      const { depends_on: after, healthcheck } = compose.services[name] ?? {};
      expect(after?.['migrate']).toEqual({ condition: 'service_completed_successfully' });
      expect(after?.['redis']).toEqual({ condition: 'service_healthy' });
      expect(healthcheck).toBeDefined();
    }
    for (const name of ['api', 'worker', 'migrate']) {
      expect(compose.services[name]).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        stop_grace_period: '60s',
      });
    }
  });

  test('every secret comes from the environment, and its absence is told', () => {
    const text = read('docker-compose.yml');
    for (const name of ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'CELLAR_ADMIN_KEY', 'CELLAR_SECRET_KEY']) {
      const uses = text.match(new RegExp(`\\$\\{${name}[^}]*\\}`, 'g')) ?? [];
      expect(uses.length).toBeGreaterThan(0);
      for (const use of uses) expect(use).toMatch(/:\?is missing - docs\/operations\.md says how to make one\}$/);
    }
  });
});

test('the image runs as somebody who is not root, and listens beyond itself', () => {
  const lines = read('Dockerfile').split('\n');
  expect(lines.filter((line) => line.startsWith('FROM '))).toHaveLength(2);
  expect(lines.findLast((line) => line.startsWith('USER '))).toBe('USER 1000:1000');
  expect(lines.some((line) => /^ENV .*\bHOST=0\.0\.0\.0\b/.test(line))).toBe(true);
});
