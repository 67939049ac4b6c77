-- CreateTable
CREATE TABLE "artifacts" (
    "id" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "conversation_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "writer" TEXT NOT NULL,
    "cell_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "mime_type" TEXT NOT NULL,
    "bytes" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "artifacts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "artifacts_cell_id_idx" ON "artifacts"("cell_id");

-- AddForeignKey
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_cell_id_fkey" FOREIGN KEY ("cell_id") REFERENCES "cells"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Files are compressed already, for the most part.
ALTER TABLE "artifacts" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
