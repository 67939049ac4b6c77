/** Arguments of a helper as they crossed: as JSON, and what kind each was before. */
export class Given {
  constructor(
    private readonly kinds: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  /** Whether an argument was left out, or null. */
  isAbsent(index: number): boolean {
    const kind = this.kinds[index];
    return kind === undefined || kind === 'undefined' || kind === 'null';
  }

  /** An argument in words, for an error: small values themselves, else the kind. */
  describe(index: number): string {
    const kind = this.kinds[index] ?? 'undefined';
    const value = this.values[index];
    if (kind === 'undefined' || kind === 'null') return kind;
    // Numbers that are not finite cross as null.
    if (kind === 'number' && value === null) return 'not finite';
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}...` : value);
    return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
  }
}

/** A helper was not used as it can be; the script gets an error of that kind. */
export class Refusal extends Error {
  constructor(
    readonly kind: 'Error' | 'RangeError' | 'TypeError',
    message: string,
  ) {
    super(message);
  }
}

/** An argument that must be a string. */
export function textOf(helper: string, what: string, given: Given, index: number): string {
  const value = given.values[index];
  if (typeof value === 'string') return value;
  throw new Refusal('TypeError', `${helper}: the ${what} must be a string, and it is ${given.describe(index)}`);
}
