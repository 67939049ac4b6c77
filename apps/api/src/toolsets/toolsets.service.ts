import type { PutToolset, ToolSpec, ToolsetVersion } from '#libs/contracts';
import { NotFoundError, ToolNameCollisionError } from '#libs/core';
import type { Offload, SchemaToCheck } from '#libs/offload';
import { Database, deleteToolset, findToolset, listToolsets, putToolset } from '#libs/persistence';
import { nameTool } from '#libs/tools';
import { findNameFaults, toolIdentifier } from '#libs/script';
import { Inject, Injectable } from '@nestjs/common';
import { invalidBody } from '../http/faults.js';
import { OFFLOAD } from '../tokens.js';

/** A toolset's newest version as it was put. */
export type StoredToolset = PutToolset & { name: string; version: number };

/** A tenant's toolsets. */
@Injectable()
export class ToolsetsService {
  constructor(
    private readonly db: Database,
    @Inject(OFFLOAD) private readonly offload: Offload,
  ) {}

  /** Checks a toolset and makes a new version of it. Throws ToolNameCollisionError, InvalidRequestError. */
  async put(tenantId: string, name: string, toolset: PutToolset): Promise<ToolsetVersion> {
    const { tools } = toolset;
    checkNames(tools);
    const faults = await this.offload.checkSchemas(tools.flatMap(schemasOf));
    if (faults.length > 0) throw invalidBody(faults);
    const version = await putToolset(this.db, tenantId, name, JSON.stringify(toolset));
    return { name, version, tools: tools.map((tool) => ({ tool: tool.name, identifier: toolIdentifier(tool) })) };
  }

  async get(tenantId: string, name: string): Promise<StoredToolset> {
    const row = await findToolset(this.db, tenantId, name);
    if (!row) throw noToolset(name);
    const document = JSON.parse(row.document) as PutToolset;
    return { name, version: row.version, ...document, tools: document.tools.map(withoutSecrets) };
  }

  list(tenantId: string): Promise<{ name: string; version: number }[]> {
    return listToolsets(this.db, tenantId);
  }

  async delete(tenantId: string, name: string): Promise<void> {
    if (!(await deleteToolset(this.db, tenantId, name))) throw noToolset(name);
  }
}

/** Refused identifiers are found when a conversation is configured: whether a tool is in a view is settled there. */
function checkNames(tools: readonly ToolSpec[]): void {
  for (const fault of findNameFaults(tools)) {
    if (fault.kind !== 'collision') continue;
    const [first, second] = [tools[fault.first], tools[fault.second]];
    if (!first || !second) continue;
    throw new ToolNameCollisionError(
      `tools/${fault.first}, ${nameTool(first)}, and tools/${fault.second}, ${nameTool(second)}, would both be ` +
        `tools.${fault.identifier} in scripts: rename one, or give it a namespace.`,
    );
  }
}

function schemasOf({ inputSchema, outputSchema }: ToolSpec, index: number): SchemaToCheck[] {
  const input = { pointer: `/tools/${index}/inputSchema`, schema: inputSchema, describesObject: true };
  if (outputSchema === undefined) return [input];
  return [input, { pointer: `/tools/${index}/outputSchema`, schema: outputSchema }];
}

/** Headers of a delivery may hold credentials: they can be written and never read. */
function withoutSecrets(tool: ToolSpec): ToolSpec {
  if (tool.delivery?.kind !== 'http') return tool;
  const { headers: _headers, ...delivery } = tool.delivery;
  return { ...tool, delivery };
}

function noToolset(name: string): NotFoundError {
  return new NotFoundError(`There is no toolset ${name}.`);
}
