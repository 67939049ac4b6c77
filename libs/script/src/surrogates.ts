/** Whether a UTF-16 unit is the first half of a pair. */
export function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Whether a UTF-16 unit is the second half of a pair. */
export function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Whether a UTF-16 unit is a half of a pair. */
export function isSurrogate(unit: number): boolean {
  return isHigh(unit) || isLow(unit);
}
