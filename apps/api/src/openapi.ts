import { problemSchema } from '#libs/contracts';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { z } from 'zod';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/**
 * The OpenAPI 3.1 document, made from the schemas that validate. Every schema with an id is a component; the problem
 * document stands beside them, as routes name it and none has it as its answer.
 */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const info = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Cellar')
    .setDescription(
      'Runs scripts that a language model writes, as cells of a conversation. Errors are RFC 9457 documents.',
    )
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'cel_{keyId}_{secret}' }, 'tenantKey')
    .addBearerAuth({ type: 'http', scheme: 'bearer' }, 'adminKey')
    .build();
  const document = SwaggerModule.createDocument(app, info, { standardSchemaConverter });
  document.components = {
    ...document.components,
    schemas: { ...document.components?.schemas, ...problemComponents() },
  };
  return sorted(document) as OpenAPIObject;
}

/** The problem document and what it refers to. Nest rewrites the references of what it converts itself, and not these. */
function problemComponents(): Record<string, object> {
  const text = JSON.stringify(convert(problemSchema, 'output').components);
  return JSON.parse(text.replaceAll('"#/$defs/', '"#/components/schemas/')) as Record<string, object>;
}

function standardSchemaConverter(schema: unknown, { schemaType }: { schemaType: 'input' | 'output' }) {
  return schema instanceof z.ZodType ? convert(schema, schemaType) : undefined;
}

/** A schema as a reference to its component if it has an id, and the components that it needs. */
function convert(
  schema: z.ZodType,
  io: 'input' | 'output',
): { schema: JsonSchema; components: Record<string, object> } {
  const {
    $schema: _dialect,
    $defs = {},
    ...root
  } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      delete jsonSchema.id;
      // Answers may get new fields: only what is strict says that there are no others.
      const { def } = zodSchema._zod;
      if (def.type === 'object' && !('catchall' in def && def.catchall)) delete jsonSchema.additionalProperties;
    },
  });
  const components = { ...$defs };
  const id = z.globalRegistry.get(schema)?.id;
  // A schema that others refer to is among the definitions already.
  if (id === undefined || '$ref' in root) return { schema: root, components };
  return { schema: { $ref: `#/$defs/${id}` }, components: { ...components, [id]: root } };
}

/** The same document with paths and components in the order of their names, so that it changes only where it changes. */
function sorted(document: OpenAPIObject): object {
  const { paths, components, ...rest } = document;
  return {
    ...rest,
    paths: byName(paths),
    components: { ...components, schemas: byName(components?.schemas ?? {}) },
  };
}

function byName<Value>(record: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
