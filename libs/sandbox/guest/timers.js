// Part 5: setTimeout() and clearTimeout(). The host keeps the time; here are only the callbacks.

const timers = new RealMap();
let lastTimer = 0;

const setTimer = (callback, delay) => {
  if (!active) return undefined;
  if (typeof callback !== 'function') {
    throw new RealTypeError(`setTimeout: the callback must be a function, and it is a ${typeof callback}`);
  }
  const given = toNumber(delay);
  if (!active) return undefined;
  if (timers.size >= limits.pendingTimers) {
    throw new RealRangeError(
      `setTimeout: ${timers.size} timers are pending, and a script may have ${limits.pendingTimers}`,
    );
  }
  lastTimer += 1;
  timers.set(lastTimer, callback);
  send(KIND.timer, `[${lastTimer},${isFiniteNumber(given) && given > 0 ? given : 0}]`);
  return lastTimer;
};

const clearTimer = (id) => {
  if (active && timers.delete(id)) send(KIND.untimer, `[${id}]`);
};

function fireTimer(id) {
  const callback = timers.get(id);
  if (callback === undefined || !active) return;
  timers.delete(id);
  try {
    callback();
  } catch (error) {
    fail(error);
  }
}
