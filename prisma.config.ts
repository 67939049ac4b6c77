import { defineConfig } from 'prisma/config';

// For `prisma generate` alone: it needs no address of a database. Migrations are applied by prisma/migrate.ts.
export default defineConfig({ schema: 'prisma/schema.prisma', migrations: { path: 'prisma/migrations' } });
