import type { ToolsetBinding } from '#libs/contracts';
import type { Fault } from '#libs/core';
import type { BoundToolset } from '#libs/persistence';
import { checkViews, nameTool } from '#libs/tools';
import { Injectable } from '@nestjs/common';
import { invalidBody } from '../http/faults.js';
import { NewestToolsets, type ToolsetOutline } from '../toolsets/newest-toolsets.js';

/** Settles which tools the writers of a conversation may use. */
@Injectable()
export class Bindings {
  constructor(private readonly newest: NewestToolsets) {}

  /**
   * The bindings with the versions that are newest now. Throws InvalidRequestError for an unknown toolset or an
   * exposure that its tools cannot have, ToolNameCollisionError for names that cannot stand together in a view.
   */
  async resolve(tenantId: string, bindings: readonly ToolsetBinding[]): Promise<BoundToolset[]> {
    const toolsets = await this.newest.find(tenantId, new Set(bindings.map(({ toolset }) => toolset)));
    const faults = bindings.flatMap((binding, index) => bindingFaults(binding, toolsets.get(binding.toolset), index));
    if (faults.length > 0) throw invalidBody(faults);
    checkViews(
      bindings.map(({ toolset, memberIds }) => ({ toolset, memberIds, tools: toolsets.get(toolset)?.tools ?? [] })),
    );
    return bindings.map((binding) => ({ ...binding, version: toolsets.get(binding.toolset)?.version ?? 0 }));
  }
}

function bindingFaults(
  { toolset, exposure }: ToolsetBinding,
  outline: ToolsetOutline | undefined,
  at: number,
): Fault[] {
  if (!outline) {
    return [
      { pointer: `/toolsets/${at}/toolset`, detail: `names ${toolset}, which is not there: PUT the toolset first` },
    ];
  }
  if (exposure === undefined || exposure === 'model-only') return [];
  const orphan = outline.tools.find((tool) => !tool.hasDelivery);
  if (!orphan) return [];
  const detail = `cannot be ${exposure}: ${nameTool(orphan)} has no delivery, so scripts cannot call it`;
  return [{ pointer: `/toolsets/${at}/exposure`, detail }];
}
