import type { ApiConfig } from '#libs/config';
import type { Logger } from '#libs/telemetry';
import { type DynamicModule, Module } from '@nestjs/common';
import { AdaptersModule } from './adapters.module.js';
import { AdminModule } from './admin/admin.module.js';
import { ArtifactsModule } from './artifacts/artifacts.module.js';
import { CellsModule } from './cells/cells.module.js';
import { ConversationsModule } from './conversations/conversations.module.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { ToolResultsModule } from './tool-results/tool-results.module.js';
import { ToolsetsModule } from './toolsets/toolsets.module.js';

/** One API process: its adapters, what is common to all requests, and one module per resource. */
@Module({})
export class AppModule {
  static register(config: ApiConfig, logger: Logger): DynamicModule {
    return {
      module: AppModule,
      imports: [
        AdaptersModule.register(config, logger),
        HttpModule,
        ConversationsModule,
        CellsModule,
        ToolResultsModule,
        ArtifactsModule,
        ToolsetsModule,
        AdminModule,
        HealthModule,
      ],
    };
  }
}
