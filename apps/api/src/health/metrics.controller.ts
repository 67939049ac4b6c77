import { METRICS_CONTENT_TYPE, renderMetrics } from '#libs/telemetry';
import { Controller, Get, Header } from '@nestjs/common';
import { ApiProduces, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Operation } from '../http/operation.js';

@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  @Get()
  @Header('content-type', METRICS_CONTENT_TYPE)
  @ApiProduces('text/plain')
  @Operation({
    id: 'metrics',
    summary: 'Metrics of the process, for Prometheus',
    answer: z.string(),
    answerDescription: 'The Prometheus text format.',
    security: 'nobody',
  })
  metrics(): Promise<string> {
    return renderMetrics();
  }
}
