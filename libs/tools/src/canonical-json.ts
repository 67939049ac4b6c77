/**
 * JSON text that is the same for equal values, whatever the order of their members. For values from bodies, whose depth
 * is bounded.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (isRecord(member) ? sorted(member) : member)) ?? 'null';
}

/** Without a prototype, so that a member named like an accessor of one is a member all the same. */
function sorted(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copy = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(record).sort()) copy[name] = record[name];
  return copy;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
