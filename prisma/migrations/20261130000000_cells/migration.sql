-- CreateTable
CREATE TABLE "tenants" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "suspended_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "name" TEXT,
    "hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "conversations" (
    "tenant_id" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "model" TEXT,
    "epoch" INTEGER NOT NULL DEFAULT 1,
    "version" INTEGER NOT NULL DEFAULT 1,
    "settings" TEXT NOT NULL DEFAULT '{}',
    "toolsets" TEXT NOT NULL DEFAULT '[]',
    "deleted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "conversations_pkey" PRIMARY KEY ("tenant_id","id")
);

-- CreateTable
CREATE TABLE "branches" (
    "tenant_id" TEXT NOT NULL,
    "conversation_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "id" TEXT NOT NULL,
    "parent_id" TEXT,
    "forked_at" BIGINT NOT NULL DEFAULT 0,
    "path_ids" TEXT[],
    "path_until" BIGINT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "branches_pkey" PRIMARY KEY ("tenant_id","conversation_id","epoch","id")
);

-- CreateTable
CREATE TABLE "value_counters" (
    "tenant_id" TEXT NOT NULL,
    "conversation_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "last_sequence" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "value_counters_pkey" PRIMARY KEY ("tenant_id","conversation_id","epoch")
);

-- CreateTable
CREATE TABLE "value_heads" (
    "tenant_id" TEXT NOT NULL,
    "conversation_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "writer" TEXT NOT NULL,
    "branch_id" TEXT NOT NULL,
    "chars" INTEGER NOT NULL,

    CONSTRAINT "value_heads_pkey" PRIMARY KEY ("tenant_id","conversation_id","epoch","writer","branch_id")
);

-- CreateTable
CREATE TABLE "value_entries" (
    "tenant_id" TEXT NOT NULL,
    "conversation_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "sequence" BIGINT NOT NULL,
    "writer" TEXT NOT NULL,
    "branch_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "value" TEXT,
    "chars" INTEGER NOT NULL,
    "cell_id" TEXT NOT NULL,
    "dialect" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "value_entries_pkey" PRIMARY KEY ("tenant_id","conversation_id","epoch","sequence")
);

-- CreateTable
CREATE TABLE "cells" (
    "id" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "conversation_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "writer" TEXT NOT NULL,
    "member_id" TEXT,
    "branch_id" TEXT NOT NULL,
    "dialect" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'queued',
    "stretch" INTEGER NOT NULL DEFAULT 1,
    "worker_id" TEXT,
    "source" TEXT NOT NULL,
    "options" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "wake_at" TIMESTAMPTZ(3),
    "deadline_at" TIMESTAMPTZ(3),
    "cpu_ms" DOUBLE PRECISION NOT NULL DEFAULT 0,
    "error_code" TEXT,
    "error" TEXT,
    "warnings" TEXT NOT NULL DEFAULT '[]',
    "observer" TEXT,
    "observer_until" TIMESTAMPTZ(3),
    "observed" BOOLEAN NOT NULL DEFAULT false,
    "yield_at" TIMESTAMPTZ(3),
    "spilled_for" TEXT,
    "boundary" INTEGER,
    "spilled" INTEGER NOT NULL DEFAULT 0,
    "collected" INTEGER NOT NULL DEFAULT 0,
    "complete" BOOLEAN NOT NULL DEFAULT false,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "cells_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "cell_output" (
    "tenant_id" TEXT NOT NULL,
    "cell_id" TEXT NOT NULL,
    "first" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    "items" TEXT NOT NULL,

    CONSTRAINT "cell_output_pkey" PRIMARY KEY ("cell_id","first")
);

-- CreateTable
CREATE TABLE "toolsets" (
    "tenant_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "toolsets_pkey" PRIMARY KEY ("tenant_id","name")
);

-- CreateTable
CREATE TABLE "toolset_versions" (
    "tenant_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "document" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "toolset_versions_pkey" PRIMARY KEY ("tenant_id","name","version")
);

-- CreateTable
CREATE TABLE "workers" (
    "id" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "beat" BIGINT NOT NULL DEFAULT 0,
    "slots" INTEGER NOT NULL,
    "image_version" TEXT NOT NULL,

    CONSTRAINT "workers_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "api_keys_tenant_id_idx" ON "api_keys"("tenant_id");

-- CreateIndex
CREATE INDEX "value_entries_tenant_id_conversation_id_epoch_writer_branch_idx" ON "value_entries"("tenant_id", "conversation_id", "epoch", "writer", "branch_id", "key", "sequence" DESC);

-- CreateIndex
CREATE INDEX "cells_tenant_id_conversation_id_epoch_writer_created_at_id_idx" ON "cells"("tenant_id", "conversation_id", "epoch", "writer", "created_at" DESC, "id");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "tenants"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "toolset_versions" ADD CONSTRAINT "toolset_versions_tenant_id_name_fkey" FOREIGN KEY ("tenant_id", "name") REFERENCES "toolsets"("tenant_id", "name") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Rows that somebody waits for. Partial, so that finished cells cost these indexes nothing.
CREATE INDEX "cells_queued_idx" ON "cells"("created_at") WHERE "state" = 'queued';
CREATE INDEX "cells_running_idx" ON "cells"("worker_id") WHERE "state" = 'running';
CREATE INDEX "cells_wake_idx" ON "cells"("wake_at") WHERE "wake_at" IS NOT NULL;

-- A state is one of five, and a cell has an end exactly when its state is final.
ALTER TABLE "cells" ADD CONSTRAINT "cells_state_check" CHECK ("state" IN ('queued', 'running', 'completed', 'failed', 'terminated'));
ALTER TABLE "cells" ADD CONSTRAINT "cells_ended_check" CHECK (("ended_at" IS NULL) = ("state" IN ('queued', 'running')));

-- A final state is written once.
CREATE FUNCTION cellar_keep_final_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'cell % has ended as %: a final state never changes', OLD.id, OLD.state USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER cells_keep_final_state BEFORE UPDATE ON "cells" FOR EACH ROW
  WHEN (OLD.state IN ('completed', 'failed', 'terminated') AND NEW.state <> OLD.state)
  EXECUTE FUNCTION cellar_keep_final_state();

-- The log of values is append-only. The retention job names itself in its transaction and may then delete.
CREATE FUNCTION cellar_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('cellar.retention', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'value entries are append-only: % is refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER value_entries_append_only BEFORE UPDATE OR DELETE ON "value_entries" FOR EACH ROW
  EXECUTE FUNCTION cellar_append_only();
CREATE TRIGGER value_entries_no_truncate BEFORE TRUNCATE ON "value_entries" FOR EACH STATEMENT
  EXECUTE FUNCTION cellar_append_only();
