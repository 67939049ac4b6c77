import type { INestApplication } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { openApiDocument } from './openapi.js';

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Cellar API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;
const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true });\n`;

/** The page may load nothing from elsewhere; Swagger UI's styles and icons are inline. */
const POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";
const ASSET_TYPES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

/** Serves the document at /openapi.json, and Swagger UI with it at /docs. */
export function serveDocs(app: INestApplication, server: FastifyInstance): void {
  let document: string | undefined;
  server.get('/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(app));
    return reply.type('application/json; charset=utf-8').send(document);
  });
  server.get('/docs', (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY).send(PAGE),
  );
  server.get('/docs/start.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(START));
  const assets = swaggerUiFolder();
  for (const [name, type] of Object.entries(ASSET_TYPES)) {
    server.get(`/docs/${name}`, async (_request, reply) => reply.type(type).send(await readFile(join(assets, name))));
  }
}

/** Swagger UI comes with @nestjs/swagger. */
function swaggerUiFolder(): string {
  const swagger = createRequire(import.meta.url).resolve('@nestjs/swagger');
  return dirname(createRequire(swagger).resolve('swagger-ui-dist/package.json'));
}
