// Part 1 of the prelude: what the other parts use, taken before any script runs. The prelude is one function body
// made of the files in this folder (see ../src/assets.ts); it may call methods of built-ins directly, because
// harden.js makes them unchangeable before the first script starts.

const RealError = Error;
const RealInternalError = InternalError;
const RealMap = Map;
const RealPromise = Promise;
const RealProxy = Proxy;
const RealRangeError = RangeError;
const RealString = String;
const RealSymbol = Symbol;
const RealTypeError = TypeError;
const RealWeakSet = WeakSet;
const toNumber = Number;
const toIsoDate = Date.prototype.toISOString;
const functionText = Function.prototype.toString;
const then = Promise.prototype.then;
const { parse, stringify } = JSON;
const { apply, ownKeys, getPrototypeOf, defineProperty, getOwnPropertyDescriptor } = Reflect;
const { freeze, isFrozen, preventExtensions } = Object;
const { isArray } = Array;
const { isError } = Error;
const { isFinite: isFiniteNumber } = Number;

// Kinds of messages to the host; the same numbers stand in ../src/thread/kinds.ts.
const KIND = {
  text: 1,
  console: 2,
  boundary: 3,
  timer: 4,
  untimer: 5,
  end: 6,
  isProxy: 7,
  tool: 8,
  missingTool: 9,
  toolNames: 10,
  allTools: 11,
  call: 12,
  bytes: 13,
  note: 14,
  image: 15,
  audio: 16,
  inquiry: 17,
};
const AS_JSON = 64;

// Whether the script is running. Before that and after its end every helper does nothing.
let active = false;

// The host's answers to a text: there was no memory left to copy it out; it holds NUL, at which a copy ends; it is
// over a limit that the host counts.
const NO_MEMORY = 0;
const NEEDS_JSON = 2;
const TOO_LONG = 3;
const TOO_MANY = 4;

const outOfMemory = () => new RealInternalError('out of memory');

// A text without NUL and lone surrogates crosses as it is; any other as JSON, which escapes both. The host finds NUL
// itself, by the length: a search in here would cost more than all the rest.
function sendText(kind, text) {
  let answer = text.isWellFormed() ? send(kind, text, text.length) : NEEDS_JSON;
  if (answer === NEEDS_JSON) answer = send(kind | AS_JSON, stringify(text), text.length);
  if (answer === NO_MEMORY) throw outOfMemory();
  return answer;
}

// Asks the host for a text: undefined comes when there was no memory left for it.
function ask(kind, payload) {
  const answer = send(kind, payload);
  if (answer === undefined && active) throw outOfMemory();
  return answer;
}

// Only the host can tell a proxy from its target without running the proxy's traps.
function isProxy(value) {
  return send(KIND.isProxy, value) === 1;
}

// A function as scripts get it: with the name they know, and unchangeable.
function finished(helper, name) {
  defineProperty(helper, 'name', { value: name });
  return freeze(helper);
}
