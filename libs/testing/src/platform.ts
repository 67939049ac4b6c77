import type { CellResult, PendingCall, PostedResult, ToolResults } from '#libs/contracts';
import type { CellarClient, ConversationClient } from './client.js';

/** What a platform's tool gives for a call; undefined: it does not answer. */
export type Answering = (call: PendingCall) => Omit<PostedResult, 'callId'> | undefined;

/** A result of one text. */
export const saying = (text: string) => ({ result: { content: [{ type: 'text' as const, text }] } });

/** A tool that the platform runs, for `PUT /v1/toolsets/{name}`. */
export const clientTool = (name: string, more: object = {}) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: 'object' },
  exposure: 'core',
  delivery: { kind: 'client' },
  ...more,
});

/** A conversation that has these tools, in a toolset of their own. */
export async function conversationWith(
  client: CellarClient,
  tools: readonly object[],
  more: object = {},
): Promise<ConversationClient> {
  await client.ok('PUT', '/v1/toolsets/tested', { tools });
  return client.conversation({ kind: 'direct', toolsets: [{ toolset: 'tested' }], ...more });
}

/** Posts the answers to calls; the answer of the API, also when it refuses. */
export function postResults(conversation: ConversationClient, results: readonly object[], more: object = {}) {
  return conversation.client.send<ToolResults>('POST', `${conversation.path}/tool-results`, { results, ...more });
}

/**
 * Answers the calls of a cell, round by round as a platform does, until it has ended or nothing is answered. All
 * answers about the cell, in their order.
 */
export async function answerAll(
  conversation: ConversationClient,
  first: CellResult,
  answering: Answering,
): Promise<CellResult[]> {
  const answers = [first];
  for (let last = first; last.state === 'running';) {
    const results = last.pendingCalls.flatMap((call) => {
      const outcome = answering(call);
      return outcome ? [{ callId: call.callId, ...outcome }] : [];
    });
    if (results.length === 0) break;
    const { status, body } = await postResults(conversation, results, { observe: { cell_id: last.cellId } });
    if (!body.cell) throw new Error(`tool-results: ${status} ${JSON.stringify(body)}`);
    last = body.cell;
    answers.push(last);
  }
  return answers;
}
