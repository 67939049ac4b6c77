import { Module } from '@nestjs/common';
import { AdminController } from './admin.controller.js';
import { AdminService } from './admin.service.js';

/** Routes of the operator. */
@Module({ controllers: [AdminController], providers: [AdminService] })
export class AdminModule {}
