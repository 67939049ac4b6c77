import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestPool } from '../test/run-script.js';

let pool: TestPool;
beforeAll(async () => {
  pool = await TestPool.create();
});
afterAll(() => pool.close());

/** What each expression resolves to as JSON (undefined: nothing), or the error that it rejects with. */
async function ask(expression: string): Promise<string | undefined> {
  const source = `text(String(JSON.stringify(await ${expression})))`;
  const { texts, failure } = await pool.run(source, { dialect: 'codemode' });
  return failure?.message ?? texts[0];
}

describe('without providers', () => {
  it.each([
    ['models.getModelsOfType("chat")', '[]'],
    ['models.getModelsOfType("image", "openrouter")', '[]'],
    ['models.getAvailableOfType("classifier", undefined)', '[]'],
    ['models.getAvailableOfType("classifier", null)', '[]'],
    ['models.getModelOfType("classifier", "typesafe", "jev-latest")', 'undefined'],
  ])('%s resolves to %s', async (expression, value) => expect(await ask(expression)).toBe(value));

  const classify = (model: string, context: string) => `models.classify(${model}, ${context})`;
  const generate = (model: string, context: string) => `models.generateImages(${model}, ${context})`;
  const m = '{ provider: "p", id: "m", baseUrl: "http://x" }';
  const image = '{ type: "image", data: "", mimeType: "image/png" }';
  const questions = `{
    a: { type: "choice", instructions: "?", criteria: { x: "X" } },
    b: { type: "score", instructions: "?", criteria: ["low", "high"] },
    c: { type: "bool", instructions: "?", criteria: { true: "yes", false: "no" } } }`;

  it.each([
    [
      classify(m, `{ state: {}, images: [${image}], questions: ${questions} }`),
      'Error: models.classify: there is no classifier model "m" of "p"; models.getAvailableOfType("classifier") lists those that can be used',
    ],
    [
      generate(m, `{ input: [{ type: "text", text: "fox" }, ${image}] }`),
      'Error: models.generateImages: there is no image model "m" of "p"; models.getAvailableOfType("image") lists those that can be used',
    ],
  ])('%s names what lists the models', async (expression, message) => expect(await ask(expression)).toBe(message));

  it.each([
    ['models.getModelsOfType()', 'models.getModelsOfType: the type must be a string, and it is undefined'],
    [
      'models.getAvailableOfType("video")',
      'models.getAvailableOfType: the type must be "chat", "image" or "classifier", and it is "video"',
    ],
    ['models.getModelsOfType("toString")', 'models.getModelsOfType: the type must be "chat", "image" or "classifier"'],
    ['models.getModelsOfType("chat", 5)', 'models.getModelsOfType: the provider must be a string, and it is 5'],
    ['models.getModelOfType("chat")', 'models.getModelOfType: the provider must be a string, and it is undefined'],
    ['models.getModelOfType("chat", "p", {})', 'models.getModelOfType: the id must be a string, and it is an object'],
    ...['undefined', 'null', '"m"', '[]', '() => 1', '{}', '{ provider: "p" }', '{ provider: 1, id: "m" }'].map(
      (model) => [
        classify(model, `{ state: {}, questions: {} }`),
        'models.classify: the model must be { provider: string, id: string }, such as models.getAvailableOfType("classifier") lists',
      ],
    ),
    ...[
      ['undefined', 'it is no object'],
      ['{ questions: {} }', 'state is no object'],
      ['{ state: [], questions: {} }', 'state is no object'],
      ['{ state: {} }', 'questions is no object'],
      ['{ state: {}, questions: {}, images: 5 }', 'images is no array'],
      [`{ state: {}, questions: {}, images: [${image}, {}] }`, 'images[1] is no image block'],
      ['{ state: {}, questions: { "q\\n": 1 } }', 'questions["q\\n"] is no object'],
      ['{ state: {}, questions: { q: { type: "bool" } } }', 'questions["q"].instructions is no string'],
      [
        '{ state: {}, questions: { q: { type: "rank", instructions: "" } } }',
        'questions["q"].type is none of "choice", "score" and "bool"',
      ],
      [
        '{ state: {}, questions: { q: { type: "bool", instructions: "", criteria: { true: "" } } } }',
        'questions["q"].criteria is not { true: string, false: string }',
      ],
      [
        '{ state: {}, questions: { q: { type: "score", instructions: "", criteria: {} } } }',
        'questions["q"].criteria is no array of strings',
      ],
      [
        '{ state: {}, questions: { q: { type: "choice", instructions: "", criteria: ["a"] } } }',
        'questions["q"].criteria is no object of strings',
      ],
    ].map(([context, fault]) => [
      classify(m, context ?? ''),
      'models.classify: the context must be { state: object, images?: { type: "image", data: string, mimeType: string }[], questions: ',
      `; ${fault}`,
    ]),
    ...[
      ['null', 'it is no object'],
      ['{ input: "fox" }', 'input is no array'],
      ['{ input: ["fox"] }', 'input[0] is neither a text block nor an image block'],
    ].map(([context, fault]) => [
      generate(m, context ?? ''),
      'models.generateImages: the context must be { input: ({ type: "text", text: string } | { type: "image", data: string, mimeType: string })[] }',
      `; ${fault}`,
    ]),
  ])('%s is a TypeError', async (expression, message = '', end = '') => {
    const said = (await ask(expression ?? '')) ?? '';
    expect(said.slice(0, `TypeError: ${message}`.length)).toBe(`TypeError: ${message}`);
    expect(said.slice(said.length - end.length)).toBe(end);
  });

  it('gives promises that reject, each apart', async () => {
    const source = `
      const all = [models.classify(), models.generateImages(), models.getModelsOfType(), models.getModelsOfType('chat')];
      return (await Promise.allSettled(all)).map((r) => r.status[0] + (r.reason instanceof TypeError))`;
    const { texts } = await pool.run(source, { dialect: 'codemode' });
    expect(texts).toEqual(['["rtrue","rtrue","rtrue","ffalse"]']);
  });

  it('takes only the provider and the id of a model', async () => {
    const model = '{ provider: "p", id: "m", get baseUrl() { throw new Error("read") }, self: 1n }';
    expect(await ask(generate(model, '{ input: [] }'))).toContain('there is no image model "m" of "p"');
  });
});
