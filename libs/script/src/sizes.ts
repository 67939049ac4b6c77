const UNIT = 1_024;
/** From here on one decimal would show as a whole unit more. */
const NEXT = UNIT - 0.05;

/** A file's size as a model reads it: `70 B`, and from 1,024 B on with one decimal, `1.5 KB`, `2.0 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < UNIT) return `${bytes} B`;
  const kilobytes = bytes / UNIT;
  if (kilobytes < NEXT) return `${kilobytes.toFixed(1)} KB`;
  return `${(kilobytes / UNIT).toFixed(1)} MB`;
}
