import { UnauthorizedError } from '#libs/core';
import { expect, it } from 'vitest';
import { checkAdminKey } from './admin-key.js';

it('lets the operator in and nobody else', () => {
  expect(() => checkAdminKey('Bearer the-operator', 'the-operator')).not.toThrow();
  for (const header of [undefined, '', 'Bearer ', 'Bearer the-operato', 'Bearer the-operatorx', 'the-operator']) {
    expect(() => checkAdminKey(header, 'the-operator')).toThrow(UnauthorizedError);
  }
});
