/** A case of the conformance table; its steps are read by play.mjs alone. */
export interface Case {
  name: string;
  group: string;
}

/** Where to play, and as whom. */
export interface Server {
  url: string;
  key: string;
}

export function play(server: Server, test: Case): Promise<string[]>;
export function registerTools(server: Server): Promise<void>;
