import { z } from 'zod';

const REQUEST_TIMEOUT_MS = 60_000;

const problemSchema = z.object({ status: z.number(), code: z.string(), detail: z.string() });

/** An answer of the API that was not what the start needs. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** A client of our own API, as any platform would write it. */
export interface Client {
  send<T>(method: string, path: string, body: unknown, answer: z.ZodType<T>): Promise<T>;
}

/** @param key a tenant's key, or the admin key for the admin routes */
export function client(url: string, key: string): Client {
  return {
    async send(method, path, body, answer) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const content: unknown = await response.json().catch(() => undefined);
      if (response.ok) return answer.parse(content);
      const problem = problemSchema.safeParse(content);
      const said = problem.success ? `${problem.data.code}: ${problem.data.detail}` : 'no problem document';
      throw new HttpFailure(response.status, `${method} ${path} was answered ${response.status} (${said}).`);
    },
  };
}

/** Whether the API and all that it needs can be used. */
export async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
