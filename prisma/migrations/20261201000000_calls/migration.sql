-- AlterTable
ALTER TABLE "conversations" ADD COLUMN "view" TEXT;

-- AlterTable
ALTER TABLE "cells" ADD COLUMN "view" TEXT;

-- CreateTable
CREATE TABLE "views" (
    "tenant_id" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "document" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "views_pkey" PRIMARY KEY ("tenant_id","hash")
);

-- CreateTable
CREATE TABLE "calls" (
    "id" TEXT NOT NULL,
    "tenant_id" TEXT NOT NULL,
    "conversation_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "writer" TEXT NOT NULL,
    "cell_id" TEXT NOT NULL,
    "stretch" INTEGER NOT NULL,
    "number" INTEGER NOT NULL,
    "tool" TEXT NOT NULL,
    "namespace" TEXT,
    "toolset" TEXT NOT NULL,
    "identifier" TEXT NOT NULL,
    "arguments" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "told" BOOLEAN NOT NULL DEFAULT false,
    "asked" BOOLEAN NOT NULL DEFAULT false,
    "result" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "calls_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "calls_cell_id_number_key" ON "calls"("cell_id", "number");

-- A call has an end exactly when its state is final, and a result exactly when somebody gave one.
ALTER TABLE "calls" ADD CONSTRAINT "calls_state_check" CHECK ("state" IN ('pending', 'delivered', 'settled', 'failed', 'cancelled', 'expired'));
ALTER TABLE "calls" ADD CONSTRAINT "calls_ended_check" CHECK (("ended_at" IS NULL) = ("state" IN ('pending', 'delivered')));
ALTER TABLE "calls" ADD CONSTRAINT "calls_result_check" CHECK (("result" IS NOT NULL) = ("state" IN ('settled', 'failed')));

-- A call ends once.
CREATE FUNCTION cellar_keep_call_end() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'call % has ended as %: its end never changes', OLD.id, OLD.state USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER calls_keep_end BEFORE UPDATE ON "calls" FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL AND (NEW.state <> OLD.state OR NEW.result IS DISTINCT FROM OLD.result))
  EXECUTE FUNCTION cellar_keep_call_end();

-- Calls that an observer is to be told of. Partial, so that it is as small as what is under way.
CREATE INDEX "calls_untold_idx" ON "calls"("cell_id") WHERE "ended_at" IS NULL AND "asked" AND NOT "told";
