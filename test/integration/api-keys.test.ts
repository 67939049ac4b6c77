import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from '../../apps/api/src/api.js';
import { loadApiConfig } from '#libs/config';
import { createLogger } from '#libs/telemetry';
import { CellarClient, eventually } from '../../libs/testing/src/index.js';
import { newSecretKey, type TestApi, startTestApi } from './api-fixture.js';

const PATH = '/v1/conversations/chat';

describe('keys', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api[Symbol.asyncDispose]());
  const withKey = (key: string) => new CellarClient(api.url, key);

  it('open the API to their tenant', async () => {
    const client = await api.tenant();
    expect((await client.send('PUT', PATH, { kind: 'direct' })).status).toBe(200);
  });

  it('are wanted, and must be right to the last character', async () => {
    const { key } = await api.tenant();
    const wrong = [
      `${key}x`,
      key.slice(0, -1),
      key.replace(/^cel/, 'cal'),
      'cel_nobody_secretsecret',
      'x',
      api.admin.key,
    ];
    for (const other of wrong) {
      const reply = await withKey(other).send('GET', PATH);
      expect(reply.status).toBe(401);
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    }
    const odd: Record<string, string>[] = [{}, { authorization: key }, { authorization: `Basic ${key}` }];
    for (const headers of odd) {
      expect((await fetch(api.url + PATH, { headers })).status).toBe(401);
    }
  });

  it('are asked for before a body is read', async () => {
    const reply = await withKey('x').send('PUT', PATH, undefined, { body: '{"kind":' });
    expect(reply.status).toBe(401);
  });

  it('end when they expire', async () => {
    const { tenantId } = await api.tenant();
    const make = (expiresAt: number) =>
      api.admin.ok<{ key: string }>('POST', `/admin/tenants/${tenantId}/keys`, {
        name: 'a key \0 with an odd name \ud800',
        expiresAt: new Date(expiresAt).toISOString(),
      });
    const over = await make(Date.now() - 1_000);
    const valid = await make(Date.now() + 60_000);
    expect((await withKey(over.key).problem('GET', PATH)).detail).toContain('expired');
    expect((await withKey(valid.key).problem('GET', PATH)).status).toBe(404);
  });

  it('of a suspended tenant are refused within seconds, with the reason', async () => {
    const client = await api.tenant();
    await client.ok('PUT', PATH, { kind: 'direct' });
    const suspend = { name: 'suspend', text: 'UPDATE tenants SET suspended_at = now() WHERE id = $1' };
    await api.database.query(suspend, [client.tenantId]);
    const problem = await eventually(async () => {
      const reply = await client.send('GET', PATH);
      return reply.status === 403 && reply.body;
    });
    expect(problem).toMatchObject({ code: 'tenant_suspended' });
    expect((await withKey(`${client.key}x`).problem('GET', PATH)).code).toBe('unauthorized');
  });

  it('go on working when the secret key is changed, and new ones are made under the new one', async () => {
    const client = await api.tenant();
    const start = (secretKeys: string) =>
      Api.start(
        loadApiConfig({ ...api.env, CELLAR_SECRET_KEY: secretKeys }),
        createLogger({ name: 'api', level: 'silent' }),
      );
    const old = api.env['CELLAR_SECRET_KEY'] ?? '';
    const fresh = newSecretKey('k2');
    await using rotated = await start(`${fresh},${old}`);
    expect((await client.at(rotated).problem('GET', PATH)).status).toBe(404);
    const { key } = await new CellarClient(rotated.url, api.admin.key).ok<{ key: string }>(
      'POST',
      `/admin/tenants/${client.tenantId}/keys`,
      {},
    );
    await using forgotten = await start(fresh);
    expect((await client.at(forgotten).problem('GET', PATH)).status).toBe(401);
    expect((await new CellarClient(forgotten.url, key).problem('GET', PATH)).status).toBe(404);
  });

  it('of one tenant show nothing of another', async () => {
    const [one, other] = [await api.tenant(), await api.tenant()];
    await one.ok('PUT', PATH, { kind: 'direct' });
    await one.ok('PUT', '/v1/toolsets/mine', { tools: [] });
    const never = (path: string) => other.problem('GET', path.replace(/\w+$/, 'never'));
    const plain = (problem: object) => JSON.stringify(problem).replaceAll(/chat|mine|never/g, '');
    for (const path of [PATH, '/v1/toolsets/mine']) {
      expect(plain(await other.problem('GET', path))).toBe(plain(await never(path)));
    }
    expect(await other.ok('GET', '/v1/toolsets')).toEqual({ toolsets: [] });
    expect((await other.problem('DELETE', '/v1/toolsets/mine')).status).toBe(404);
    expect((await other.problem('PUT', PATH, { kind: 'room', toolsets: [{ toolset: 'mine' }] })).status).toBe(400);
    expect((await other.send('PUT', PATH, { kind: 'room' })).status).toBe(200);
    expect(await one.ok('GET', PATH)).toMatchObject({ kind: 'direct' });
  });

  it('are found in no log', async () => {
    const { key } = await api.tenant();
    await withKey(key).send('GET', `${PATH}?access_token=${key}`);
    await withKey(`${key}x`).send('GET', PATH);
    const log = api.log.join('');
    expect(log).toContain('request failed');
    expect(log).not.toContain(key.split('_').slice(2).join('_'));
    expect(log).not.toContain(api.admin.key);
  });

  it('of the operator make tenants and keys, and nothing else does', async () => {
    const { key } = await api.tenant();
    for (const other of [key, `${api.admin.key}x`, 'x']) {
      expect((await withKey(other).problem('POST', '/admin/tenants', { name: 'x' })).status).toBe(401);
    }
    const reply = await api.admin.send('POST', '/admin/tenants', { name: 'Café \0 \ud800' });
    expect(reply).toMatchObject({ status: 201, body: { tenantId: expect.stringMatching(/^t_\w{16}$/) as string } });
    for (const tenant of ['t_0000000000000000', 'a%00b', '..%2F']) {
      expect((await api.admin.problem('POST', `/admin/tenants/${tenant}/keys`, {})).status).toBe(404);
    }
    expect((await api.admin.problem('POST', '/admin/tenants', { name: '' })).code).toBe('invalid_request');
    const bad = await api.admin.problem('POST', '/admin/tenants/t_0000000000000000/keys', { expiresAt: 'tomorrow' });
    expect(bad.errors).toMatchObject([{ pointer: '/expiresAt' }]);
  });
});
