/** One environment variable that cannot be used. */
export interface ConfigFault {
  /** Name of the variable. */
  name: string;
  /** What is expected, in words. */
  expected: string;
  /** What was given, safe to print: secrets are described, never quoted. Undefined when the variable is not set. */
  given?: string;
  /** Why the given value was refused. */
  reason?: string;
}

/**
 * The environment does not describe a process that could start. Carries every fault at once; the message is made to
 * be printed as it is and read by someone who has never seen the code.
 */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    const noun = faults.length === 1 ? 'an environment variable is' : `${faults.length} environment variables are`;
    super(`Cellar cannot start: ${noun} wrong.\n${faults.map(describeFault).join('\n')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

function describeFault(fault: ConfigFault): string {
  const found = fault.given === undefined ? 'it is not set' : `given: ${fault.given}`;
  const reason = fault.reason === undefined ? '' : ` (${fault.reason})`;
  return `  ${fault.name}: expected ${fault.expected}; ${found}${reason}.`;
}
