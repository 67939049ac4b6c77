import { formatResult, type FormatInput, type FormattedResult } from '#libs/script';

/** Runs in a thread of the pool. */
export default function run(input: FormatInput): FormattedResult {
  return formatResult(input);
}
