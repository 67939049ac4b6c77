/**
 * Where things lie in the memory of the pinned engine (quickjs-emscripten 0.32.0, release-sync): addresses in bytes.
 * They hold for this one binary; each thread checks them at its start by comparing the whole memory after a restore
 * (see self-check.ts), and the pinned hash of the base image fails first when the binary changes.
 */
export const LAYOUT = {
  /** Static data lies below this, the C stack from here to `stackTop`, the heap above. */
  staticEnd: 90_208,
  /** Top of the C stack and start of the heap; the stack pointer's value when nothing runs. */
  stackTop: 5_333_088,
  /** The word that holds the program break. */
  breakAddress: 86_864,
  /** How far the C stack can reach down: twice the limit that the engine enforces itself. */
  stackReach: 512 * 1024,
  /** Offset in a runtime of the position of the hook for rejected promises; its argument is in the next word. */
  rejectionHookOffset: 160,
  /** Offset of the 16-bit class id in an object of the engine. */
  classIdOffset: 6,
  /** The class id of a proxy. */
  proxyClass: 50,
} as const;

/** The stack that the engine allows a script, in bytes: small enough for every deep recursion to fail cleanly. */
export const GUEST_STACK_BYTES = 256 * 1024;

/** An instance that grew past this is dropped after its cell, so that the memory goes back to the system. */
export const DROP_INSTANCE_BYTES = 32 * 1024 * 1024;
