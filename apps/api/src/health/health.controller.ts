import { UnavailableError } from '#libs/core';
import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { HealthCheckService } from '@nestjs/terminus';
import { z } from 'zod';
import { Draining } from '../http/draining.js';
import { Operation } from '../http/operation.js';
import { Dependencies } from './dependencies.js';

const healthSchema = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });
type Health = z.infer<typeof healthSchema>;

@ApiTags('health')
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly dependencies: Dependencies,
    private readonly draining: Draining,
  ) {}

  @Get('live')
  @Operation({ id: 'live', summary: 'Whether the process is up', answer: healthSchema, security: 'nobody' })
  live(): Health {
    return { status: 'ok' };
  }

  @Get('ready')
  @Operation({
    id: 'ready',
    summary: 'Whether the process can serve: Postgres and Redis are there, and it is not being stopped',
    answer: healthSchema,
    security: 'nobody',
    problems: ['unavailable'],
  })
  async ready(): Promise<Health> {
    if (this.draining.begun) throw new UnavailableError('This API process, which is being stopped,');
    try {
      await this.health.check(this.dependencies.checks());
    } catch (error) {
      if (!(error instanceof ServiceUnavailableException)) throw error;
      throw new UnavailableError(awayIn(error).join(' and '), { cause: error });
    }
    return { status: 'ok' };
  }
}

/** The names of the checks that failed. */
function awayIn(error: ServiceUnavailableException): string[] {
  const { error: failed } = z.object({ error: z.record(z.string(), z.unknown()) }).parse(error.getResponse());
  return Object.keys(failed);
}
