import MiniSearch from 'minisearch';
import type { ToolRecord } from '#libs/script';

/** What of a description is searched. */
const DESCRIPTION_CHARS = 2_000;

/** Words of a query that are looked for: each costs a walk over all that begin like it or are spelled like it. */
const QUERY_WORDS = 32;

/** Tools ranked by BM25 over their names, descriptions and parameters. Building it is the costly part. */
export class ToolSearch {
  private readonly index = new MiniSearch<{ id: number }>({
    fields: ['name', 'description', 'parameters'],
    tokenize: wordsOf,
    searchOptions: {
      tokenize: (query) => [...new Set(wordsOf(query))].slice(0, QUERY_WORDS),
      boost: { name: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });

  constructor(tools: readonly ToolRecord[]) {
    this.index.addAll(
      tools.map((tool, id) => ({
        id,
        name: `${tool.namespace ?? ''} ${tool.name}`,
        description: [tool.description, ...(tool.guidelines ?? [])].join(' ').slice(0, DESCRIPTION_CHARS),
        parameters: parametersOf(tool).join(' ').slice(0, DESCRIPTION_CHARS),
      })),
    );
  }

  /** Positions of the tools that match, the best first; only of those given, if any are. */
  find(query: string, among?: ReadonlySet<number>): number[] {
    const found = this.index.search(query, among && { filter: ({ id }) => among.has(Number(id)) });
    return found.map(({ id }) => Number(id));
  }
}

/** Names are split as people read them: at separators and where the case changes. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '');
}

function parametersOf({ inputSchemaText }: ToolRecord): string[] {
  const { properties } = Object(JSON.parse(inputSchemaText)) as { properties?: unknown };
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
}
