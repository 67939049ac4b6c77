import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { OpsRequests } from './ops-requests.js';

const request = () => new IncomingMessage(new Socket());

it('keeps the routes of the operator and the others on ports of their own', () => {
  const requests = new OpsRequests(true);
  const [inside, outside] = [request(), request()];
  requests.add(inside);
  for (const route of ['/metrics', '/admin/tenants', '/admin/tenants/:t/keys']) {
    expect([requests.serves(route, inside), requests.serves(route, outside)]).toEqual([true, false]);
  }
  for (const route of ['/v1/toolsets', '/docs', '/openapi.json']) {
    expect([requests.serves(route, inside), requests.serves(route, outside)]).toEqual([false, true]);
  }
  for (const route of ['/health/live', '/health/ready']) {
    expect([requests.serves(route, inside), requests.serves(route, outside)]).toEqual([true, true]);
  }
});

it('serves everything everywhere when there is one port', () => {
  const requests = new OpsRequests(false);
  for (const route of ['/metrics', '/admin/tenants', '/v1/toolsets'])
    expect(requests.serves(route, request())).toBe(true);
});
