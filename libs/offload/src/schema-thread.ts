import type { Fault } from '#libs/core';
import type { SchemaTask } from './protocol.js';
import { checkSchema } from './schema-check.js';

// The first check compiles the meta-schema, which is not the time of the request that happens to come first.
checkSchema({ pointer: '', schema: {} });

/** Runs in a thread of the pool. Says which schema it is at before it looks at it. */
export default function run({ schemas, progress }: SchemaTask): Fault[] {
  return schemas.flatMap((schema, index) => {
    Atomics.store(progress, 0, index);
    return checkSchema(schema);
  });
}
