import { Global, Module } from '@nestjs/common';
import { ApiKeys } from './api-keys.js';
import { Draining } from './draining.js';

/** What all routes share. */
@Global()
@Module({ providers: [ApiKeys, Draining], exports: [ApiKeys, Draining] })
export class HttpModule {}
