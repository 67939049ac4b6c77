type Fields = Readonly<Record<string, unknown>>;

/** The shapes in words (spec: models). */
export const CLASSIFIER_CONTEXT =
  '{ state: object, images?: { type: "image", data: string, mimeType: string }[], questions: { [id]: ' +
  '{ type: "choice", instructions: string, criteria: { [label]: string } } | ' +
  '{ type: "score", instructions: string, criteria: string[] } | ' +
  '{ type: "bool", instructions: string, criteria: { true: string, false: string } } } }';
export const IMAGES_CONTEXT =
  '{ input: ({ type: "text", text: string } | { type: "image", data: string, mimeType: string })[] }';

/** What is wrong with what `models.classify` is to answer; undefined: nothing. */
export function classifierFault(context: unknown): string | undefined {
  if (!isRecord(context)) return 'it is no object';
  const { state, images, questions } = context;
  if (!isRecord(state)) return 'state is no object';
  if (images !== undefined && !Array.isArray(images)) return 'images is no array';
  const image = (images ?? []).findIndex((block) => !isImage(block));
  if (image !== -1) return `images[${image}] is no image block`;
  if (!isRecord(questions)) return 'questions is no object';
  for (const [id, question] of Object.entries(questions)) {
    const fault = questionFault(question);
    if (fault !== undefined) return `questions[${JSON.stringify(id)}]${fault}`;
  }
  return undefined;
}

/** What is wrong with what `models.generateImages` is to draw; undefined: nothing. */
export function imagesFault(context: unknown): string | undefined {
  if (!isRecord(context)) return 'it is no object';
  const { input } = context;
  if (!Array.isArray(input)) return 'input is no array';
  const wrong = input.findIndex((block) => !isImage(block) && !isText(block));
  return wrong === -1 ? undefined : `input[${wrong}] is neither a text block nor an image block`;
}

function questionFault(question: unknown): string | undefined {
  if (!isRecord(question)) return ' is no object';
  const { type, instructions, criteria } = question;
  if (typeof instructions !== 'string') return '.instructions is no string';
  switch (type) {
    case 'choice':
      return isRecord(criteria) && areStrings(Object.values(criteria))
        ? undefined
        : '.criteria is no object of strings';
    case 'score':
      return Array.isArray(criteria) && areStrings(criteria) ? undefined : '.criteria is no array of strings';
    case 'bool':
      return isRecord(criteria) && areStrings([criteria['true'], criteria['false']])
        ? undefined
        : '.criteria is not { true: string, false: string }';
    default:
      return '.type is none of "choice", "score" and "bool"';
  }
}

function isImage(block: unknown): boolean {
  return isRecord(block) && block['type'] === 'image' && areStrings([block['data'], block['mimeType']]);
}

function isText(block: unknown): boolean {
  return isRecord(block) && block['type'] === 'text' && typeof block['text'] === 'string';
}

function areStrings(values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
