import { z } from 'zod';
import { client } from './http.js';

const SCRIPT = `const squares = [1, 2, 3, 4].map((n) => n * n);
text('Hello from a cell.');
return { squares, sum: squares.reduce((a, b) => a + b) };`;

const resultSchema = z.object({
  state: z.string(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
});

/** The conversation that the sample and the printed curl line use. */
const CONVERSATION = '/v1/conversations/sample';

/** Runs a script over HTTP, as a platform would, and resolves with the text that a model would be given. */
export async function runSample(url: string, apiKey: string): Promise<string> {
  const platform = client(url, apiKey);
  await platform.send('PUT', CONVERSATION, { kind: 'direct' }, z.unknown());
  const { content, state } = await platform.send('POST', `${CONVERSATION}/exec`, { source: SCRIPT }, resultSchema);
  const text = content.map((block) => block.text ?? `[${block.type}]`).join('\n');
  if (state !== 'completed') throw new Error(`The sample script did not complete but is ${state}:\n${text}`);
  return text;
}

/** A line for a terminal that runs a script in the sample's conversation. */
export function curlLine(url: string, apiKey: string): string {
  const headers = `-H 'authorization: Bearer ${apiKey}' -H 'content-type: application/json'`;
  return `curl -s ${url}${CONVERSATION}/exec ${headers} -d '{"source":"text(6 * 7)"}'`;
}
