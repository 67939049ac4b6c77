// Part 9: describing what a script threw, without running any of its code: own data properties only, and nothing of
// a proxy is looked at.

const UNKNOWN = 'The script threw a value that cannot be shown.';
const MAX_NODES = 2000;
const MAX_DEPTH = 32;
const MAX_FRAMES = 40;

// Prototype of a built-in error -> its name: harden.js turns `name` into an accessor.
const errorNames = new RealMap();
for (const name of ownKeys(globalThis)) {
  const type = typeof name === 'string' ? getOwnPropertyDescriptor(globalThis, name).value : undefined;
  if (typeof type !== 'function' || typeof type.prototype !== 'object') continue;
  if (type === RealError || getPrototypeOf(type) === RealError) errorNames.set(type.prototype, name);
}

// A string found as a data property of the object or of what it inherits from.
function dataText(object, key) {
  let at = object;
  for (let i = 0; i < MAX_DEPTH && at !== null && !isProxy(at); i += 1) {
    const found = getOwnPropertyDescriptor(at, key);
    if (found !== undefined && typeof found.value === 'string') return found.value;
    if (key === 'name' && errorNames.has(at)) return errorNames.get(at);
    at = getPrototypeOf(at);
  }
  return '';
}

// JSON of a value by its own enumerable data properties; undefined when there is none.
function dataJson(value, depth, count) {
  count.nodes += 1;
  if (typeof value === 'string')
    return stringify(value.length > limits.errorBytes ? value.slice(0, limits.errorBytes) : value);
  if (typeof value === 'number') return isFiniteNumber(value) ? RealString(value) : 'null';
  if (value === null || typeof value === 'boolean') return RealString(value);
  if (typeof value !== 'object') return undefined;
  if (depth > MAX_DEPTH || count.nodes > MAX_NODES || isProxy(value)) throw UNKNOWN;
  const list = isArray(value);
  let shown = '';
  for (const key of list ? listKeys(value) : ownKeys(value)) {
    const own = typeof key === 'symbol' ? undefined : getOwnPropertyDescriptor(value, key);
    const usable = own !== undefined && (list || own.enumerable) && 'value' in own;
    const json = usable ? dataJson(own.value, depth + 1, count) : undefined;
    if (json === undefined && !list) continue;
    shown += `${shown === '' ? '' : ','}${list ? '' : `${stringify(key)}:`}${json === undefined ? 'null' : json}`;
  }
  if (!list && shown === '') {
    const date = isoDate(value);
    if (date !== undefined) return date;
  }
  return list ? `[${shown}]` : `{${shown}}`;
}

function listKeys(list) {
  const { length } = list;
  if (length > MAX_NODES) throw UNKNOWN;
  const keys = [];
  for (let i = 0; i < length; i += 1) keys[i] = RealString(i);
  return keys;
}

function isoDate(value) {
  try {
    return `"${apply(toIsoDate, value, [])}"`;
  } catch {
    return undefined;
  }
}

const FRAME = /^\s*at (?:(.*) \()?script\.js(?::(\d+))?(?::(\d+))?\)?$/;

// The engine counts columns of the first line from the opening that the host put before it.
function frameLine(text, lines) {
  const parts = FRAME.exec(text.length > 300 ? text.slice(text.length - 300) : text);
  if (parts === null || parts[2] === undefined) return undefined;
  const row = toNumber(parts[2]);
  const past = row > lines;
  const column = parts[3] === undefined || past ? '' : `:${row === 1 ? toNumber(parts[3]) - OPENING.length : parts[3]}`;
  const place = `script.js:${past ? lines : row}${column}`;
  return parts[1] === undefined ? `    at ${place}` : `    at ${parts[1]} (${place})`;
}

function scriptFrames(error, lines) {
  const found = getOwnPropertyDescriptor(error, 'stack');
  if (found === undefined || typeof found.value !== 'string') return '';
  const stack = found.value.length > 65536 ? found.value.slice(0, 65536) : found.value;
  const frames = [];
  for (const text of stack.split('\n')) {
    const frame = frames.length < MAX_FRAMES ? frameLine(text, lines) : undefined;
    if (frame !== undefined) frames[frames.length] = frame;
  }
  return frames.join('\n');
}

// { message, frames, exhausted }: exhausted when the engine's own out-of-memory forms were thrown.
function describe(thrown, lines) {
  if (isError(thrown)) {
    const name = dataText(thrown, 'name') || 'Error';
    const message = dataText(thrown, 'message');
    const shown = message === '' ? name : `${name}: ${message}`;
    return {
      message: shown.slice(0, limits.errorBytes),
      frames: scriptFrames(thrown, lines),
      exhausted: name === 'InternalError' && message === 'out of memory',
    };
  }
  return { message: describeValue(thrown), frames: '', exhausted: thrown === null };
}

function describeValue(thrown) {
  if (typeof thrown === 'function') return UNKNOWN;
  if (typeof thrown !== 'object' || thrown === null) return RealString(thrown).slice(0, limits.errorBytes);
  try {
    return dataJson(thrown, 0, { nodes: 0 }).slice(0, limits.errorBytes);
  } catch {
    return UNKNOWN;
  }
}
