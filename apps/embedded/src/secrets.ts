import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { writePrivate, type Home } from './home.js';
import { StartProblem } from './start-problem.js';

const secretsSchema = z.object({
  /** As CELLAR_SECRET_KEY takes it. */
  secretKey: z.string(),
  adminKey: z.string(),
  postgresPassword: z.string(),
  redisPassword: z.string(),
  /** The development tenant and its key, once they have been made. */
  tenantId: z.string().optional(),
  apiKey: z.string().optional(),
});

/** What an embedded Cellar keeps to itself between starts. */
export type Secrets = z.infer<typeof secretsSchema>;

/** Reads the secrets of a home, or makes them at its first start. @throws StartProblem for a damaged file */
export function openSecrets(home: Home): Secrets {
  const file = home.file('secrets.json');
  if (!existsSync(file)) {
    const made: Secrets = {
      secretKey: `k1:${randomBytes(32).toString('base64')}`,
      adminKey: `adm_${randomBytes(24).toString('base64url')}`,
      postgresPassword: randomBytes(18).toString('hex'),
      redisPassword: randomBytes(18).toString('hex'),
    };
    writePrivate(file, made);
    return made;
  }
  try {
    return secretsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new StartProblem(
      `${file} cannot be read. It holds the keys of the data beside it: bring it back, or delete the whole folder to begin anew.`,
      { cause },
    );
  }
}

/** Keeps changed secrets. */
export function saveSecrets(home: Home, secrets: Secrets): void {
  writePrivate(home.file('secrets.json'), secrets);
}
