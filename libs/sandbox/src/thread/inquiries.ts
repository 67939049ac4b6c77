import { limits } from '#libs/core';
import { answerOfModels, isModelHelper } from './model-inquiries.js';
import { EngineAbortError } from './imports.js';
import { Given, Refusal, textOf } from './given.js';
import type { ToolView } from './tool-view.js';

/** Largest message: UTF-8 bytes. */
export const INQUIRY_BYTES = 3 * limits.inquiryChars;

const SEARCH_LIMIT = 8;

/** What a helper gives back: the value it resolves to (left out: undefined), or the name and the text of an error. */
type Answer = { value: unknown } | { error: readonly [name: string, message: string] };

/** Answers what a codemode script asks about tools and models: the JSON of an {@link Answer} to a message's text. */
export function answerInquiry(message: string, view: ToolView): string {
  const { helper, given } = read(message);
  let answer: Answer;
  try {
    answer = { value: isModelHelper(helper) ? answerOfModels(helper, given) : answerOfTools(helper, given, view) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    answer = { error: [error.kind, error.message] };
  }
  return JSON.stringify(answer);
}

function answerOfTools(helper: string, given: Given, view: ToolView): unknown {
  switch (helper) {
    case 'describeTool':
      return view.describe(textOf(helper, 'name', given, 0));
    case 'describeNamespace':
      return view.describeNamespace(textOf(helper, 'name', given, 0));
    case 'searchTools':
      return view.search(queryOf(given), ...optionsOf(given));
    default:
      throw new EngineAbortError(`an inquiry of ${helper}`);
  }
}

function queryOf(given: Given): string {
  const query = textOf('searchTools', 'query', given, 0);
  if (query.trim() === '') throw new Refusal('Error', 'searchTools: query must not be empty; say what you look for');
  if (query.length > limits.searchQueryChars) {
    throw new Refusal(
      'RangeError',
      `searchTools: the query has ${query.length} characters, and it may have ${limits.searchQueryChars}; pass less`,
    );
  }
  return query;
}

/** Given are the kind of the options, their limit and their namespace. */
function optionsOf(given: Given): [limit: number, namespace?: string] {
  const kind = given.values[1];
  if (kind !== 'object' && kind !== 'undefined' && kind !== 'null') {
    throw new Refusal(
      'TypeError',
      `searchTools: the options must be an object such as { limit: 8, namespace: "github" }, and they are ${
        kind === 'array' ? 'an array' : `a ${String(kind)}`
      }`,
    );
  }
  const limit = given.isAbsent(2) ? SEARCH_LIMIT : given.values[2];
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1) {
    throw new Refusal(
      'RangeError',
      `searchTools: limit must be greater than zero, a whole number, and it is ${given.describe(2)}`,
    );
  }
  return given.isAbsent(3) ? [limit] : [limit, textOf('searchTools', 'namespace', given, 3)];
}

/** Reads `[helper, kinds, arguments]`, as the prelude sends it. */
function read(message: string): { helper: string; given: Given } {
  const [helper, kinds, values] = JSON.parse(message) as [string, string[], unknown[]];
  return { helper, given: new Given(kinds, values) };
}
