// Part 4: store() and load(). The snapshot and the staged writes live here, in the script's own memory.

// Key -> JSON of the state that the script sees.
const values = new RealMap();
// Key -> JSON or null (deleted): what the script wrote, merged per key.
const writes = new RealMap();
// Characters of all keys and values that the script sees.
let valuesChars = 0;
// Characters of the keys that the script deleted: bounded too, or deletions alone could fill the host.
let deletedChars = 0;

// entries: key, JSON, key, JSON, ...
function loadSnapshot(entries) {
  for (let i = 0; i < entries.length; i += 2) {
    values.set(entries[i], entries[i + 1]);
    valuesChars += entries[i].length + entries[i + 1].length;
  }
}

const shownKey = (key) => stringify(key.length > 60 ? `${key.slice(0, 60)}...` : key);

function toValueJson(key, value) {
  let json;
  try {
    json = stringify(value);
  } catch (error) {
    if (isError(error) && getPrototypeOf(error) === RealTypeError.prototype) {
      throw new RealTypeError(`store(${shownKey(key)}): the value cannot be kept as JSON: ${error.message}`);
    }
    throw error;
  }
  if (json === undefined) {
    throw new RealTypeError(`store(${shownKey(key)}): a ${typeof value} cannot be kept as JSON; store plain data`);
  }
  if (json.length > limits.valueChars) {
    throw new RealRangeError(
      `store(${shownKey(key)}): the value has ${json.length} characters of JSON, and one value may have ${limits.valueChars}; split it over several keys`,
    );
  }
  return json;
}

function checkTotal(key, total) {
  if (total <= limits.valuesChars) return;
  throw new RealRangeError(
    `store(${shownKey(key)}): all values and keys together would have ${total} characters, and they may have ${limits.valuesChars}; delete some with store(key, undefined)`,
  );
}

function put(key, json) {
  const old = values.get(key);
  const oldChars = old === undefined ? 0 : key.length + old.length;
  const newChars = json === null ? 0 : key.length + json.length;
  const total = valuesChars - oldChars + newChars;
  const wasDeleted = writes.get(key) === null;
  let deleted = deletedChars;
  if (json === null && !wasDeleted) deleted += key.length + 4;
  if (json !== null && wasDeleted) deleted -= key.length + 4;
  if (json !== null) checkTotal(key, total);
  else checkTotal(key, deleted);
  if (json === null) values.delete(key);
  else values.set(key, json);
  writes.set(key, json);
  valuesChars = total;
  deletedChars = deleted;
}

const store = (key, value) => {
  if (!active) return;
  if (typeof key !== 'string') throw new RealTypeError(`store: the key must be a string, and it is a ${typeof key}`);
  if (key.length > limits.valueKeyChars) {
    throw new RealRangeError(
      `store(${shownKey(key)}): the key has ${key.length} characters, and a key may have ${limits.valueKeyChars}`,
    );
  }
  const json = value === undefined ? null : toValueJson(key, value);
  if (active) put(key, json);
};

const load = (key) => {
  const json = typeof key === 'string' ? values.get(key) : undefined;
  return json === undefined ? undefined : parse(json);
};
