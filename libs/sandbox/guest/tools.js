// Part 6: tools and ALL_TOOLS. The view stays with the host: names are looked up there when a script uses them, so that
// the start of a script does not depend on how many tools there are.

const TOOL_NAME_CHARS = 300;

// What the language itself looks up on any object. No tool has such a name (see libs/script/src/identifiers.ts), and
// reading one must not throw, or `await tools` would.
const NOT_TOOLS = new Set([
  'then',
  'toJSON',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__proto__',
  'constructor',
  'prototype',
]);

// Position in the view -> the function that calls the tool.
const toolFunctions = new RealMap();
// Call id -> what settles it. Calls that wait for their turn are here too.
const pendingCalls = new RealMap();
// Calls over the limit: [id, message]. Those before `nextQueued` have been started.
let queuedCalls = [];
let nextQueued = 0;
let callsUnderWay = 0;
let lastCall = 0;

function argumentsJson(name, given) {
  if (given === undefined) return '{}';
  if (typeof given !== 'object' || given === null || isArray(given)) {
    const kind = given === null ? 'null' : isArray(given) ? 'an array' : `a ${typeof given}`;
    throw new RealTypeError(`tools.${name}: the arguments must be one object, and this is ${kind}`);
  }
  let json;
  try {
    json = stringify(given);
  } catch (error) {
    if (isError(error) && getPrototypeOf(error) === RealTypeError.prototype) {
      throw new RealTypeError(`tools.${name}: the arguments cannot be sent as JSON: ${error.message}`);
    }
    throw error;
  }
  if (json === undefined || json[0] !== '{') {
    throw new RealTypeError(`tools.${name}: the arguments must be an object as JSON too; is there a toJSON() in them?`);
  }
  const max = limits.argumentBytes;
  if (json.length > max || (json.length * 3 > max && ask(KIND.bytes, json) > max)) {
    throw new RealRangeError(
      `tools.${name}: the arguments have ${json.length} characters of JSON, and a call may have ${max} bytes; pass less`,
    );
  }
  return json;
}

function claimCall(name) {
  if (lastCall >= limits.callsPerCell) {
    throw new RealRangeError(
      `tools.${name}: a script may make ${limits.callsPerCell} calls, and this would be one more`,
    );
  }
  lastCall += 1;
  return lastCall;
}

// A failed call rejects with an error that was made where the script called: its frames say where.
function callTool(name, index, given) {
  if (!active) return new RealPromise(() => {});
  let id;
  let message;
  try {
    message = argumentsJson(name, given);
    id = claimCall(name);
    message = `[${id},${index},${message}]`;
  } catch (error) {
    return RealPromise.reject(error);
  }
  return new RealPromise((resolve, reject) => {
    pendingCalls.set(id, { resolve, reject, error: new RealError() });
    if (callsUnderWay >= limits.callsUnderWay) queuedCalls[queuedCalls.length] = [id, message];
    else startCall(id, message);
  });
}

function startCall(id, message) {
  if (send(KIND.call, message) === NO_MEMORY) {
    pendingCalls.get(id).reject(outOfMemory());
    pendingCalls.delete(id);
  } else callsUnderWay += 1;
}

function startQueuedCalls() {
  while (nextQueued < queuedCalls.length && callsUnderWay < limits.callsUnderWay) {
    const [id, message] = queuedCalls[nextQueued];
    queuedCalls[nextQueued] = undefined;
    nextQueued += 1;
    startCall(id, message);
  }
  if (nextQueued === queuedCalls.length) {
    queuedCalls = [];
    nextQueued = 0;
  }
}

// given: `{id}:1{JSON of the value}` or `{id}:0{JSON of the error's text}`.
function settleCall(given) {
  const colon = given.indexOf(':');
  const id = toNumber(given.slice(0, colon));
  const call = pendingCalls.get(id);
  if (call === undefined || !active) return;
  pendingCalls.delete(id);
  callsUnderWay -= 1;
  startQueuedCalls();
  let value;
  try {
    value = parse(given.slice(colon + 2));
  } catch (error) {
    call.reject(error);
    return;
  }
  if (given[colon + 1] === '1') call.resolve(value);
  else {
    defineProperty(call.error, 'message', { value, writable: true, enumerable: false, configurable: true });
    call.reject(call.error);
  }
}

function findTool(key) {
  if (typeof key !== 'string' || key.length > TOOL_NAME_CHARS) return undefined;
  const index = send(KIND.tool, stringify(key));
  if (index === undefined) return undefined;
  let found = toolFunctions.get(index);
  if (found === undefined) {
    found = (given) => callTool(key, index, given);
    defineProperty(found, 'name', { value: key });
    toolFunctions.set(index, found);
  }
  return found;
}

const tools = new RealProxy(
  { __proto__: null },
  {
    get(_target, key) {
      const found = findTool(key);
      if (found !== undefined || typeof key === 'symbol' || NOT_TOOLS.has(key) || !active) return found;
      throw new RealError(parse(ask(KIND.missingTool, stringify(key.slice(0, TOOL_NAME_CHARS)))));
    },
    has: (_target, key) => findTool(key) !== undefined,
    ownKeys: () => (active ? parse(ask(KIND.toolNames, '')) : []),
    getOwnPropertyDescriptor(_target, key) {
      const value = findTool(key);
      return value === undefined ? undefined : { value, writable: false, enumerable: true, configurable: true };
    },
    set: () => true,
    deleteProperty: () => true,
    defineProperty: () => false,
    setPrototypeOf: () => false,
    preventExtensions: () => false,
  },
);

let allTools;
const readAllTools = () => {
  if (allTools === undefined && active) allTools = parse(ask(KIND.allTools, ''));
  return allTools;
};
