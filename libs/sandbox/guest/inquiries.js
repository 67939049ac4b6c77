// Part 7: what codemode scripts ask about tools and models. The host checks what is asked and answers at once; the
// kinds of the arguments go with them, because JSON does not tell undefined, null and functions apart.

const INQUIRY_ERRORS = { __proto__: null, Error: RealError, RangeError: RealRangeError, TypeError: RealTypeError };

const kindOf = (value) => (value === null ? 'null' : isArray(value) ? 'array' : typeof value);

function inquire(helper, given) {
  let json;
  try {
    json = stringify([helper, given.map(kindOf), given]);
  } catch (error) {
    if (isError(error) && getPrototypeOf(error) === RealTypeError.prototype) {
      throw new RealTypeError(`${helper}: what it was given cannot be sent as JSON: ${error.message}`);
    }
    throw error;
  }
  const max = limits.inquiryChars;
  if (json.length > max) {
    throw new RealRangeError(
      `${helper}: what it was given has ${json.length} characters of JSON, and it may have ${max}; pass less`,
    );
  }
  const { value, error } = parse(ask(KIND.inquiry, json));
  if (error === undefined) return value;
  throw new INQUIRY_ERRORS[error[0]](error[1]);
}

// `pick` makes a list of what the host must know of the arguments.
const inquiry = (helper, pick) => (first, second, third) => {
  if (!active) return new RealPromise(() => {});
  try {
    return RealPromise.resolve(inquire(helper, pick(first, second, third)));
  } catch (error) {
    return RealPromise.reject(error);
  }
};

const searchTools = inquiry('searchTools', (query, options) => [
  query,
  kindOf(options),
  options?.limit,
  options?.namespace,
]);
const describeTool = inquiry('describeTool', (name) => [name]);
const describeNamespace = inquiry('describeNamespace', (name) => [name]);

// Of a model only its provider and id are used.
const ofModel = (model, context) => [kindOf(model), model?.provider, model?.id, context];
const ofType = (...given) => given;

const modelHelper = (name, pick) => finished(inquiry(`models.${name}`, pick), name);

const models = freeze({
  getModelsOfType: modelHelper('getModelsOfType', ofType),
  getAvailableOfType: modelHelper('getAvailableOfType', ofType),
  getModelOfType: modelHelper('getModelOfType', ofType),
  classify: modelHelper('classify', ofModel),
  generateImages: modelHelper('generateImages', ofModel),
});
