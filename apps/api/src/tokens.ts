/** What is injected by a token, because it is a value or an interface and not a class. */
export const API_CONFIG = Symbol('ApiConfig');
export const PROCESS_ID = Symbol('processId');
export const LOGGER = Symbol('Logger');
export const CLOCK = Symbol('Clock');
export const OFFLOAD = Symbol('Offload');
