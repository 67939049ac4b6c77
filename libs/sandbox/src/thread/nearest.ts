/** Names in an answer. */
const SHOWN = 3;
/** Longer names have no near ones: comparing costs their length squared. */
const MAX_CHARS = 100;

/**
 * The names most like the given one, best first: the same but for case and separators, then few changes apart, then
 * containing it. At most three. The work is bounded by the number of names times their length.
 */
export function nearestNames(given: string, names: readonly string[]): string[] {
  if (given.length > MAX_CHARS) return [];
  const wanted = bare(given);
  const allowed = Math.max(1, Math.floor(wanted.length / 3));
  const found: { name: string; distance: number }[] = [];
  for (const name of names) {
    const other = bare(name);
    let distance = changes(wanted, other, allowed);
    if (distance === Infinity && contains(wanted, other)) distance = allowed + 1;
    if (distance !== Infinity) found.push({ name, distance });
  }
  found.sort((a, b) => a.distance - b.distance || a.name.length - b.name.length);
  return found.slice(0, SHOWN).map(({ name }) => name);
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-.\s]/g, '');
}

/** Whether one is a part of the other, and not a trivial one. */
function contains(a: string, b: string): boolean {
  return Math.min(a.length, b.length) > 2 && (a.includes(b) || b.includes(a));
}

/** Characters to add, drop or replace; Infinity when there are more than `max`. */
function changes(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return Infinity;
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const cost = Math.min(
        (previous[j - 1] ?? Infinity) + same,
        (previous[j] ?? Infinity) + 1,
        (current[j - 1] ?? Infinity) + 1,
      );
      current.push(cost);
      least = Math.min(least, cost);
    }
    if (least > max) return Infinity;
    previous = current;
  }
  const distance = previous[b.length] ?? Infinity;
  return distance > max ? Infinity : distance;
}
