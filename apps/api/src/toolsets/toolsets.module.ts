import { Module } from '@nestjs/common';
import { NewestToolsets } from './newest-toolsets.js';
import { ToolsetsController } from './toolsets.controller.js';
import { ToolsetsService } from './toolsets.service.js';

/** Toolsets: stored, versioned, named for scripts. */
@Module({ controllers: [ToolsetsController], providers: [ToolsetsService, NewestToolsets], exports: [NewestToolsets] })
export class ToolsetsModule {}
