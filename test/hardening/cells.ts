import type { CellResult } from '#libs/contracts';
import {
  type Cluster,
  type ConversationClient,
  answerAll,
  clientTool,
  conversationWith,
  saying,
  textsOf,
} from '../../libs/testing/src/index.js';

/** One kind of cell: what is sent, and how it must end: `completed`, `terminated` or a failure's code. */
interface Kind {
  name: string;
  source: string;
  end: string;
  texts?: readonly string[];
  /** Stopped from outside while it runs. */
  isStopped?: boolean;
}

const plain: Kind = { name: 'plain', source: 'text([1, 2].map((n) => n * 2))', end: 'completed', texts: ['[2,4]'] };
const failing: Kind = { name: 'failing', source: "text('a'); throw new Error('no')", end: 'script_error' };
const storing: Kind = { name: 'storing', source: "store('k', { at: Date.now() }); text(1)", end: 'completed' };
const timers: Kind = {
  name: 'timers',
  source: 'for (let i = 0; i < 5; i++) await new Promise((r) => setTimeout(r, 2)); text(5)',
  end: 'completed',
  texts: ['5'],
};
const calling: Kind = {
  name: 'calling',
  source: 'return (await Promise.all([1, 2, 3].map((n) => tools.echo({ n })))).join()',
  end: 'completed',
  texts: ['yes,yes,yes'],
};
const leaving: Kind = { name: 'leaving calls', source: 'tools.echo({}); text(1)', end: 'completed', texts: ['1'] };
const stopped: Kind = {
  name: 'stopped',
  source: '// @exec: {"yield_time_ms": 0}\nfor (;;) await new Promise((r) => setTimeout(r, 5))',
  end: 'terminated',
  isStopped: true,
};
const full: Kind = {
  name: 'out of memory',
  source: 'const kept = []; for (;;) kept.push(new Uint8Array(1e7))',
  end: 'out_of_memory',
};
const deaf: Kind = {
  name: 'killed',
  source: 'const b = []; b.length = 4294967295; b.indexOf(1)',
  end: 'cpu_limit',
};

const USUAL = [plain, failing, storing, timers, calling, plain, leaving, calling, storing, stopped, plain, timers];
/** Every so many cells one that costs its thread. */
const RARE: readonly (readonly [every: number, kind: Kind])[] = [
  [97, full],
  [101, deaf],
];

const kindOf = (index: number): Kind =>
  RARE.find(([every]) => index % every === every - 1)?.[1] ?? USUAL[index % USUAL.length] ?? plain;

/** Cells of many kinds by their number, each held against how it must end. */
export class Cells {
  /** How many of each kind have ended. */
  readonly ends: Record<string, number> = {};
  /** Those that ended otherwise than they must. */
  readonly wrong: string[] = [];

  private constructor(private readonly conversations: readonly ConversationClient[]) {}

  static async create(cluster: Cluster): Promise<Cells> {
    const tenants = await Promise.all([1, 2, 3].map(() => cluster.tenant()));
    const settings = { cpuLimitMs: 2_000, stretchCpuLimitMs: 2_000 };
    const made = tenants.map((tenant) => conversationWith(tenant, [clientTool('echo')], { settings }));
    return new Cells(await Promise.all(made));
  }

  /** Plays the cells from one number to before another, so many at a time. */
  async play(from: number, to: number, atATime: number): Promise<void> {
    let next = from;
    const player = async (): Promise<void> => {
      while (next < to) {
        const index = next;
        next += 1;
        await this.#one(index, kindOf(index));
      }
    };
    await Promise.all(Array.from({ length: atATime }, player));
  }

  async #one(index: number, kind: Kind): Promise<void> {
    const conversation = this.conversations[index % this.conversations.length];
    if (!conversation) return;
    const answers = await this.#answers(conversation, kind);
    const last = answers.at(-1);
    const end = last?.error?.code ?? last?.state ?? 'nothing';
    const texts = answers.flatMap(textsOf);
    const isRight = end === kind.end && (kind.texts === undefined || kind.texts.join() === texts.join());
    if (isRight) this.ends[kind.name] = (this.ends[kind.name] ?? 0) + 1;
    else this.wrong.push(`${kind.name} (cell ${index}): ${end} ${JSON.stringify(texts).slice(0, 200)}`);
  }

  async #answers(conversation: ConversationClient, kind: Kind): Promise<CellResult[]> {
    const first = await conversation.exec(kind.source);
    if (kind.isStopped === true) return [await conversation.wait(first.cellId, { terminate: true })];
    return answerAll(conversation, first, () => saying('yes'));
  }
}
