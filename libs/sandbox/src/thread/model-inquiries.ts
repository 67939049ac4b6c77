import { type Given, Refusal, textOf } from './given.js';
import { CLASSIFIER_CONTEXT, classifierFault, IMAGES_CONTEXT, imagesFault } from './model-contexts.js';

const TYPES = ['chat', 'image', 'classifier'];

const answers: Readonly<Record<string, (helper: string, given: Given) => unknown>> = {
  'models.getModelsOfType': listed,
  'models.getAvailableOfType': listed,
  'models.getModelOfType': found,
  'models.classify': (helper, given) => run(helper, 'classifier', given, CLASSIFIER_CONTEXT, classifierFault),
  'models.generateImages': (helper, given) => run(helper, 'image', given, IMAGES_CONTEXT, imagesFault),
};

/** Whether a helper is one of `models`. */
export function isModelHelper(helper: string): boolean {
  return Object.hasOwn(answers, helper);
}

/** What a helper of `models` resolves to, or a {@link Refusal}. There are no providers, so there are no models. */
export function answerOfModels(helper: string, given: Given): unknown {
  return answers[helper]?.(helper, given);
}

/** Given are a type and perhaps a provider. */
function listed(helper: string, given: Given): unknown[] {
  checkType(helper, given);
  if (!given.isAbsent(1)) textOf(helper, 'provider', given, 1);
  return [];
}

/** Given are a type, a provider and an id. */
function found(helper: string, given: Given): undefined {
  checkType(helper, given);
  textOf(helper, 'provider', given, 1);
  textOf(helper, 'id', given, 2);
}

/** Given are the model's kind, its provider and id, and the context. */
function run(
  helper: string,
  type: string,
  given: Given,
  shape: string,
  faultOf: (context: unknown) => string | undefined,
): never {
  const [kind, provider, id, context] = given.values;
  if (kind !== 'object' || typeof provider !== 'string' || typeof id !== 'string') {
    const fault =
      kind === 'object'
        ? `its ${typeof provider === 'string' ? 'id' : 'provider'} is no string`
        : `it is ${String(kind)}`;
    throw new Refusal(
      'TypeError',
      `${helper}: the model must be { provider: string, id: string }, such as models.getAvailableOfType("${type}") lists; ${fault}`,
    );
  }
  const fault = faultOf(context);
  if (fault !== undefined) throw new Refusal('TypeError', `${helper}: the context must be ${shape}; ${fault}`);
  throw new Refusal(
    'Error',
    `${helper}: there is no ${type} model ${JSON.stringify(id)} of ${JSON.stringify(provider)}; models.getAvailableOfType("${type}") lists those that can be used`,
  );
}

function checkType(helper: string, given: Given): void {
  const type = textOf(helper, 'type', given, 0);
  if (TYPES.includes(type)) return;
  throw new Refusal(
    'TypeError',
    `${helper}: the type must be "chat", "image" or "classifier", and it is ${given.describe(0)}`,
  );
}
