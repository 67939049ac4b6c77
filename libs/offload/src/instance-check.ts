import { type CallValue, type PostedResult, callValue } from '#libs/script';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { pointerToken } from './subschemas.js';

/** Compiled schemas kept at a time. */
const MAX_COMPILED = 500;
const SHOWN_CHARS = 500;

const ajv = new Ajv2020({
  strict: false,
  // An unknown format is a remark to the reader.
  validateFormats: false,
  inlineRefs: false,
  addUsedSchema: false,
  logger: false,
});

const compiled = new Map<string, ValidateFunction>();

/** The check of a schema, given as JSON text; the schema was found to be sound when it was registered. */
export function compile(schemaText: string): ValidateFunction {
  const known = compiled.get(schemaText);
  if (known) return known;
  const schema = JSON.parse(schemaText) as object;
  const validate = ajv.compile(schema);
  // The cache of ajv would grow with every schema that was ever seen.
  ajv.removeSchema(schema);
  const [oldest] = compiled.keys();
  if (compiled.size >= MAX_COMPILED && oldest !== undefined) compiled.delete(oldest);
  compiled.set(schemaText, validate);
  return validate;
}

/** What is wrong with a value: an RFC 6901 pointer and words. Undefined: nothing. */
export function faultOf(validate: ValidateFunction, value: unknown): string | undefined {
  if (validate(value)) return undefined;
  const [error] = validate.errors ?? [];
  const fault = error ? `${pointerOf(error) || 'the value'} ${wordsOf(error)}` : 'the value is refused';
  return fault.length > SHOWN_CHARS ? `${fault.slice(0, SHOWN_CHARS)}...` : fault;
}

/** {@link callValue} for a result as JSON text and a tool's output schema. */
export function checkedValue(
  identifier: string,
  resultText: string,
  validate: ValidateFunction | undefined,
): CallValue {
  const posted = JSON.parse(resultText) as PostedResult;
  return callValue(identifier, posted, validate && ((value) => faultOf(validate, value)));
}

/** The place of the value that is missing or too much, not of the object around it. */
function pointerOf({ keyword, instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty } = params as Record<string, unknown>;
  const name = keyword === 'required' ? missingProperty : additionalProperty;
  return typeof name === 'string' ? `${instancePath}/${pointerToken(name)}` : instancePath;
}

function wordsOf({ keyword, message = 'is refused', params }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'is not a known property';
    case 'enum':
      return `must be one of ${JSON.stringify((params as { allowedValues?: unknown }).allowedValues)}`;
    default:
      return message;
  }
}
