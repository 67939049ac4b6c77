import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { Dependencies } from './dependencies.js';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';

/** How others see whether this process is well. */
@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, MetricsController],
  providers: [Dependencies],
})
export class HealthModule {}
