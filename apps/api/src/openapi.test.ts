import { loadApiConfig } from '#libs/config';
import { createLogger } from '#libs/telemetry';
import { NestFactory } from '@nestjs/core';
import type { OpenAPIObject } from '@nestjs/swagger';
import { beforeAll, describe, expect, it } from 'vitest';
import { AppModule } from './app.module.js';
import { createAdapter } from './http/server.js';
import { openApiDocument } from './openapi.js';

interface Operation {
  operationId: string;
  summary: string;
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; schema?: object }[];
  requestBody?: object;
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

describe('the OpenAPI document', () => {
  let document: OpenAPIObject;
  let operations: [string, string, Operation][];
  beforeAll(async () => {
    const config = loadApiConfig({
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
      REDIS_URL: 'redis://127.0.0.1:1',
      CELLAR_ADMIN_KEY: 'no-operator',
      CELLAR_SECRET_KEY: `none:${Buffer.alloc(32).toString('base64')}`,
    });
    const module = AppModule.register(config, createLogger({ name: 'openapi', level: 'silent' }));
    document = openApiDocument(await NestFactory.create(module, createAdapter(), { preview: true, logger: false }));
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
        path,
        method,
        operation as Operation,
      ]),
    );
  });

  it('holds every route', () => {
    expect(operations.map(([path, method]) => `${method} ${path}`).sort()).toEqual(
      [
        'put /v1/conversations/{c}',
        'get /v1/conversations/{c}',
        'post /v1/conversations/{c}/branches',
        'post /v1/conversations/{c}/exec',
        'post /v1/conversations/{c}/wait',
        'post /v1/conversations/{c}/tool-results',
        'post /v1/conversations/{c}/codemode',
        'get /v1/conversations/{c}/artifacts/{a}',
        'get /v1/conversations/{c}/cells',
        'get /v1/toolsets',
        'put /v1/toolsets/{name}',
        'get /v1/toolsets/{name}',
        'delete /v1/toolsets/{name}',
        'post /admin/tenants',
        'post /admin/tenants/{t}/keys',
        'get /health/live',
        'get /health/ready',
        'get /metrics',
      ].sort(),
    );
  });

  it('names, explains and secures every operation', () => {
    expect(new Set(operations.map(([, , { operationId }]) => operationId)).size).toBe(operations.length);
    for (const [path, , { summary, security = [] }] of operations) {
      expect(summary.length).toBeGreaterThan(10);
      const expected = path.startsWith('/v1/') ? ['tenantKey'] : path.startsWith('/admin/') ? ['adminKey'] : [];
      expect(security.flatMap((scheme) => Object.keys(scheme))).toEqual(expected);
    }
  });

  it('describes every parameter, body and answer by a schema', () => {
    for (const [path, method, operation] of operations) {
      const named = [...path.matchAll(/{(\w+)}/g)].map(([, name]) => name);
      const inPath = operation.parameters?.filter((parameter) => parameter.in === 'path') ?? [];
      expect(inPath.map(({ name }) => name)).toEqual(named);
      for (const { schema } of operation.parameters ?? []) expect(Object.keys(schema ?? {})).not.toEqual([]);
      if (method === 'put' || method === 'post') expect(operation.requestBody).toBeDefined();
      const [success] = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const files = path.includes('/artifacts/') ? 5 : 1;
      if (success?.[0] !== '204') expect(Object.values(success?.[1].content ?? {})).toHaveLength(files);
    }
  });

  it('has a problem document for every error', () => {
    for (const [path, , { responses }] of operations) {
      const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400);
      if (path.startsWith('/v1/')) {
        expect(errors.map(([status]) => status)).toEqual(expect.arrayContaining(['400', '401', '403', '500', '503']));
      }
      for (const [, { content }] of errors) {
        expect(content).toEqual({
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        });
      }
    }
  });

  it('refers only to components that it has, and has none that nobody refers to', () => {
    const text = JSON.stringify(document);
    const referred = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target));
    const own = Object.keys(document.components?.schemas ?? {}).map((name) => `#/components/schemas/${name}`);
    expect([...referred].sort()).toEqual(own.sort());
    expect(text).not.toContain('$defs');
  });

  it('lets answers grow and bodies not', () => {
    const { Conversation, PutConversation } = document.components?.schemas ?? {};
    expect(Conversation).not.toHaveProperty('additionalProperties');
    expect(PutConversation).toMatchObject({ additionalProperties: false });
  });
});
