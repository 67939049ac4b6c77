import type { CallValue } from '#libs/script';
import { checkedValue, compile, faultOf } from './instance-check.js';
import { type InstanceTask, PHASE } from './protocol.js';

// The first compilation loads what all need, which is not the time of the call that happens to come first.
compile('{"type":"object"}')({});

/** Runs in a thread of the pool. Says when it begins, and when it has what it needs and looks at the value. */
export default function run({ progress, ...task }: InstanceTask): string | undefined | CallValue {
  Atomics.store(progress, 0, PHASE.compiling);
  const validate = task.schema === undefined ? undefined : compile(task.schema);
  if (task.kind === 'result') {
    Atomics.store(progress, 0, PHASE.checking);
    return checkedValue(task.identifier, task.value, validate);
  }
  const value: unknown = JSON.parse(task.value);
  Atomics.store(progress, 0, PHASE.checking);
  return validate && faultOf(validate, value);
}
