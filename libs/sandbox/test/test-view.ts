import { packView } from '#libs/script';
import type { ProgramView } from '#libs/sandbox';

/** A tool as tests write it; what is left out has a value that fits most tests. */
export interface TestTool {
  name: string;
  namespace?: string;
  description?: string;
  guidelines?: string[];
  inputSchema?: unknown;
  outputSchema?: unknown;
  exposure?: 'core' | 'declared' | 'deferred' | 'model-only';
}

/** A view with one toolset of those tools. */
export function testView(
  tools: readonly TestTool[],
  texts: { description?: string; instructions?: string } = {},
): ProgramView {
  const documents = tools.map((tool) => ({
    description: '',
    inputSchema: { type: 'object' },
    exposure: 'core',
    delivery: { kind: 'client' },
    ...tool,
  }));
  return { memory: packView([{ toolset: 'test', text: JSON.stringify({ ...texts, tools: documents }) }]) };
}
