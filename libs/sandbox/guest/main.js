// Part 12: the way of one script. The host calls `receive` and nothing else.

// What the host puts around a script; the same texts stand in ../src/thread/script-text.ts.
const OPENING = '(async()=>{';
const CLOSING = '\n})';

let script = { chars: 0, lines: 1 };

function end(failure, leaving = false) {
  if (!active) return;
  active = false;
  const list = [];
  for (const [key, json] of writes) list[list.length] = [key, json];
  send(KIND.end, stringify({ failure, writes: list, leaving, warnings: describeRejections() }));
}

function fail(thrown) {
  if (!active) return;
  const described = describe(thrown, script.lines);
  end({ code: outputLimitErrors.has(thrown) ? 'output_limit' : 'script_error', ...described });
}

function succeed(value) {
  if (!active) return;
  try {
    if (value !== undefined) text(value);
  } catch (error) {
    fail(error);
    return;
  }
  end(null);
}

// Ends the script from anywhere: every helper is dead from here on, and the loop lasts until the host interrupts it
// with an exception that no script can catch.
const exit = () => {
  if (!active) return;
  end(null, true);
  for (;;);
};

function refuse(error) {
  active = true;
  const { message, frames } = describe(error, script.lines);
  const found = isError(error) ? getOwnPropertyDescriptor(error, 'lineNumber') : undefined;
  const prefix = 'SyntaxError: ';
  let shown = message;
  if (!message.startsWith(prefix))
    shown = `${prefix}the script cannot be compiled, is it nested too deeply? (${message})`;
  else if (found !== undefined && found.value > script.lines) {
    shown = `${prefix}the script ends too early, or its brackets do not match (${message.slice(prefix.length)})`;
  }
  end({ code: 'syntax_error', message: shown, frames, exhausted: false });
}

const NOT_ONE_SCRIPT = 'the script closes more brackets than it opens';

function run(main) {
  const whole = OPENING.length - 1 + script.chars + CLOSING.length - 1;
  const source = typeof main === 'function' && !isProxy(main) ? apply(functionText, main, []) : '';
  if (source.length !== whole || !source.startsWith('async()=>{')) {
    refuse(new SyntaxError(NOT_ONE_SCRIPT));
    return;
  }
  active = true;
  apply(then, main(), [succeed, fail]);
}

const SHARED = { text, console: consoleObject, image, audio, store, load, exit, tools };
const EXEC = { setTimeout: setTimer, clearTimeout: clearTimer, yield_control: yieldControl, notify };
const CODEMODE = { searchTools, describeTool, describeNamespace, models };

// Assigning to a helper does nothing, in strict code too; a declaration of the same name shadows it.
function install(helpers) {
  for (const name of ownKeys(helpers)) {
    const helper = helpers[name];
    if (typeof helper === 'function') finished(helper, name);
    defineProperty(globalThis, name, { get: () => helper, set: () => {}, enumerable: false, configurable: false });
  }
}

const OP = { begin: 0, run: 1, refuse: 2, timer: 3, stalled: 4, settle: 5, rejected: 6, handled: 7 };

function begin(given) {
  script = given.script;
  seedRandom(given.seed[0], given.seed[1]);
  loadSnapshot(given.values);
  install(given.dialect === 'exec' ? EXEC : CODEMODE);
}

function receive(op, argument, reason) {
  if (op === OP.begin) begin(parse(argument));
  else if (op === OP.run) run(argument);
  else if (op === OP.refuse) refuse(argument);
  else if (op === OP.timer) fireTimer(argument);
  else if (op === OP.stalled) end({ code: 'stalled', message: '', frames: '', exhausted: false });
  else if (op === OP.settle) settleCall(argument);
  else if (op === OP.rejected) rejected(argument, reason);
  else if (op === OP.handled) handled(argument);
}

delete globalThis.SharedArrayBuffer;
hardenAll();
install(SHARED);
defineProperty(globalThis, 'ALL_TOOLS', { get: readAllTools, set: () => {}, enumerable: false, configurable: false });
