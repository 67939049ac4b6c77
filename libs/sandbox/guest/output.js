// Part 2: text(), console, notify() and yield_control().

let outputChars = 0;
let outputItems = 0;
// Errors of the output limit, to know them again when the script did not catch them.
const outputLimitErrors = new RealWeakSet();

function toText(value) {
  if (typeof value === 'string') return value;
  if (typeof value === 'function' || typeof value === 'symbol') return 'undefined';
  if (typeof value !== 'object' || value === null) return RealString(value);
  const json = stringify(value);
  return json === undefined ? 'undefined' : json;
}

function claimOutput(chars) {
  const what =
    outputItems + 1 > limits.outputItems
      ? `this would be item ${outputItems + 1}, and a script may make ${limits.outputItems} (text and console together)`
      : outputChars + chars > limits.outputChars
        ? `${outputChars} + ${chars} characters are more than the ${limits.outputChars} that a script may make (text and console together)`
        : undefined;
  if (what !== undefined) {
    const error = new RealRangeError(`output limit: ${what}; write less, or summarize`);
    outputLimitErrors.add(error);
    throw error;
  }
  outputItems += 1;
  outputChars += chars;
}

function addText(text) {
  claimOutput(text.length);
  sendText(KIND.text, text);
}

const text = (value) => {
  if (!active) return;
  const shown = toText(value);
  if (active) addText(shown);
};

const line = (...values) => {
  if (!active) return;
  let joined = '';
  for (let i = 0; i < values.length; i += 1) {
    if (i > 0) joined += ' ';
    joined += toText(values[i]);
  }
  if (!active) return;
  claimOutput(joined.length);
  sendText(KIND.console, joined);
};

const consoleObject = {
  log: (...values) => line(...values),
  info: (...values) => line(...values),
  warn: (...values) => line(...values),
  error: (...values) => line(...values),
  debug: (...values) => line(...values),
};
for (const name of ownKeys(consoleObject)) freeze(consoleObject[name]);
freeze(consoleObject);

// The host counts notes: what it counts holds for the whole cell.
const notify = (value) => {
  if (!active) return;
  const shown = toText(value);
  if (shown.trim() === '') throw new RealTypeError('notify: the note is blank; give it some text');
  if (!active) return;
  const answer = shown.length > limits.noteBytes ? TOO_LONG : sendText(KIND.note, shown);
  if (answer === TOO_LONG) {
    throw new RealRangeError(
      `notify: the note has ${shown.length} characters, and a note may have ${limits.noteBytes} bytes of UTF-8; shorten it`,
    );
  }
  if (answer === TOO_MANY) {
    throw new RealRangeError(
      `notify: a script may send ${limits.notes} notes with ${limits.notesBytes} bytes of UTF-8 together; send fewer`,
    );
  }
};

const yieldControl = () => {
  if (active) send(KIND.boundary, '');
};
