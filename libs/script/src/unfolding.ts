/** Expansions of one `$ref` inside each other. */
const EXPANSIONS = 2;
const DEPTH = 64;
const NODES = 2_000;
/** Characters that any schema may take, and for each of its own. */
const CHARS = 4_096;
const CHARS_PER_CHAR = 2;

/**
 * What rendering one schema may cost. References may stand in each other and multiply, so the depth, the parts and the
 * characters of names, comments and literals are limited: to a few times the schema's own.
 */
export class Unfolding {
  private depth = 0;
  private nodes = NODES;
  private chars: number;
  private readonly open = new Map<string, number>();

  constructor(private readonly root: unknown) {
    this.chars = CHARS + CHARS_PER_CHAR * (JSON.stringify(root) ?? '').length;
  }

  /** One more part with that many characters. False: the rest is left out. */
  take(chars: number): boolean {
    this.nodes -= 1;
    this.chars -= chars;
    return this.nodes >= 0 && this.chars >= 0;
  }

  /** Work one level deeper; undefined when that is too deep. */
  within<Result>(work: () => Result): Result | undefined {
    if (this.depth === DEPTH) return undefined;
    this.depth += 1;
    const result = work();
    this.depth -= 1;
    return result;
  }

  /** Work on what a reference names. Undefined: it is not in this schema, or has been expanded often enough. */
  follow<Result>(ref: string, work: (target: unknown) => Result): Result | undefined {
    const times = this.open.get(ref) ?? 0;
    const target = times < EXPANSIONS ? resolve(this.root, ref) : undefined;
    if (target === undefined) return undefined;
    this.open.set(ref, times + 1);
    const result = work(target);
    this.open.set(ref, times);
    return result;
  }
}

/** What a local reference (`#` and a JSON pointer) names. */
function resolve(root: unknown, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let at = root;
  for (const token of ref.split('/').slice(1)) {
    const name = decoded(token).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
