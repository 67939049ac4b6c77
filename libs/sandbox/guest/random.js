// Part 8: Math.random() as xoshiro128**, so that a cell's seed decides its numbers.

let r0 = 1;
let r1 = 0;
let r2 = 0;
let r3 = 0;

const rotate = (x, bits) => (x << bits) | (x >>> (32 - bits));
const multiply = Math.imul;

function next32() {
  const result = multiply(rotate(multiply(r1, 5), 7), 9);
  const shifted = r1 << 9;
  r2 ^= r0;
  r3 ^= r1;
  r1 ^= r2;
  r0 ^= r3;
  r2 ^= shifted;
  r3 = rotate(r3, 11);
  return result >>> 0;
}

function seedRandom(high, low) {
  r0 = high | 0;
  r1 = low | 0;
  r2 = r0 ^ 0x9e3779b9;
  r3 = r1 ^ 0x243f6a88;
  for (let i = 0; i < 16; i += 1) next32();
}

// 53 bits, as the language asks for.
const { random } = {
  random() {
    return (next32() * 2097152 + (next32() >>> 11)) / 9007199254740992;
  },
};
defineProperty(Math, 'random', { value: random, writable: true, enumerable: false, configurable: true });
