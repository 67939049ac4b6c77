import { randomBytes } from 'node:crypto';
import type { CellResult, Problem } from '#libs/contracts';

/** What came back. */
export interface Reply<Body = unknown> {
  status: number;
  headers: Headers;
  body: Body;
}

/** A plain HTTP client of one API process, with one key. */
export class CellarClient {
  readonly url: string;
  readonly key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
  }

  /** The same key at another API process. */
  at(process: { url: string }): CellarClient {
    return new CellarClient(process.url, this.key);
  }

  async send<Body = unknown>(
    method: string,
    path: string,
    body?: unknown,
    init: RequestInit = {},
  ): Promise<Reply<Body>> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...init,
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as Body,
    };
  }

  /** Sends and expects success. */
  async ok<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const reply = await this.send<Body>(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  /** Sends and expects a problem document. */
  async problem(method: string, path: string, body?: unknown): Promise<Problem> {
    const reply = await this.send<Problem>(method, path, body);
    if (reply.status < 400)
      throw new Error(`${method} ${path} should fail: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  /** Creates a conversation with a name of its own. */
  async conversation(body: object = { kind: 'direct' }): Promise<ConversationClient> {
    const id = `conversation-${randomBytes(6).toString('hex')}`;
    await this.ok('PUT', `/v1/conversations/${id}`, body);
    return new ConversationClient(this, id);
  }
}

/** A conversation of a client. */
export class ConversationClient {
  readonly client: CellarClient;
  readonly id: string;
  readonly path: string;

  constructor(client: CellarClient, id: string) {
    this.client = client;
    this.id = id;
    this.path = `/v1/conversations/${id}`;
  }

  /** The same conversation through another API process, or for another tenant. */
  through(client: CellarClient): ConversationClient {
    return new ConversationClient(client, this.id);
  }

  exec(source: string, more: object = {}): Promise<CellResult> {
    return this.client.ok('POST', `${this.path}/exec`, { source, ...more });
  }

  codemode(code: string, more: object = {}): Promise<CellResult> {
    return this.client.ok('POST', `${this.path}/codemode`, { code, ...more });
  }

  wait(cellId: string, more: object = {}): Promise<CellResult> {
    return this.client.ok('POST', `${this.path}/wait`, { cell_id: cellId, ...more });
  }

  waitProblem(cellId: string, more: object = {}): Promise<Problem> {
    return this.client.problem('POST', `${this.path}/wait`, { cell_id: cellId, ...more });
  }
}

/** The texts of a result, without its status line. */
export function textsOf(result: CellResult): string[] {
  return result.content.slice(1).flatMap((block) => (block.type === 'text' ? [block.text] : []));
}
