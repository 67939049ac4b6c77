// Part 11: makes every built-in unchangeable. Data properties of prototypes and constructors become accessors: on the
// built-in itself an assignment does nothing, on an object that inherits from it an own property is made, as if the
// built-in were not frozen. Plain frozen properties would refuse that (`error.name = ...`, `list.map = ...`).

const hardened = new RealMap();

function softProperty(home, key, old) {
  const value = old.value;
  const accessor = {
    get() {
      return value;
    },
    set(given) {
      if (this === home || this === null || (typeof this !== 'object' && typeof this !== 'function')) return;
      defineProperty(this, key, { value: given, writable: true, enumerable: true, configurable: true });
    },
  };
  preventExtensions(accessor.get);
  preventExtensions(accessor.set);
  defineProperty(home, key, { get: accessor.get, set: accessor.set, enumerable: old.enumerable, configurable: false });
}

// A built-in from which script objects inherit: a prototype, or a constructor (by its subclasses).
function isInherited(object, key) {
  return (
    key === 'prototype' || (typeof object === 'function' && getOwnPropertyDescriptor(object, 'prototype') !== undefined)
  );
}

function collect(object, inherited) {
  if ((typeof object !== 'object' || object === null) && typeof object !== 'function') return;
  if (object === globalThis) return;
  const seen = hardened.get(object);
  if (seen !== undefined) {
    if (inherited) hardened.set(object, true);
    return;
  }
  hardened.set(object, inherited || isInherited(object));
  for (const key of ownKeys(object)) {
    const { value, get, set } = getOwnPropertyDescriptor(object, key);
    collect(value, key === 'prototype');
    collect(get, false);
    collect(set, false);
  }
  collect(getPrototypeOf(object), true);
}

function hardenAll() {
  for (const key of ownKeys(globalThis)) collect(getOwnPropertyDescriptor(globalThis, key).value, false);
  const samples = [
    async () => {},
    function* () {},
    async function* () {},
    (function* () {})(),
    (async function* () {})(),
    [][RealSymbol.iterator](),
    ''[RealSymbol.iterator](),
    new RealMap().keys(),
    new Set().keys(),
    'a'.matchAll(/a/g),
    [].values().map((x) => x),
    Iterator.from({ next() {} }),
  ];
  for (const sample of samples)
    for (let at = getPrototypeOf(sample); at !== null; at = getPrototypeOf(at)) collect(at, true);
  for (const [object, inherited] of hardened) {
    if (!inherited) continue;
    for (const key of ownKeys(object)) {
      const own = getOwnPropertyDescriptor(object, key);
      if ('value' in own && own.writable && own.configurable) softProperty(object, key, own);
    }
  }
  for (const object of hardened.keys()) freeze(object);
  hardened.clear();
}
