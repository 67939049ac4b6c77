// Part 3: image() and audio(). The files are checked by the host: in here it would cost a hundred times as much.

const MEDIA = {
  image:
    'image: expected a base64 data: URL, { image_url } or { type: "image", data, mimeType } with a PNG, JPEG, GIF or WebP file',
  audio:
    'audio: expected a base64 data: URL, { audio_url } or { type: "audio", data, mimeType } with a WAV, MP3, OGG, FLAC, AAC, M4A or WebM file',
};

// The data: URL in one of the forms; undefined when it has none of them.
function mediaUrl(name, value) {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const url = value[`${name}_url`];
  if (typeof url === 'string') return url;
  if (typeof url === 'object' && url !== null && typeof url.url === 'string') return url.url;
  const { data } = value;
  return typeof data === 'string' ? `data:;base64,${data}` : undefined;
}

function addMedia(kind, name, value) {
  if (!active) return;
  const url = mediaUrl(name, value);
  if (!active) return;
  if (url === undefined) {
    const shown = value === null ? 'null' : typeof value === 'object' ? 'another object' : `of type ${typeof value}`;
    throw new RealTypeError(`${MEDIA[name]}, and this is ${shown}`);
  }
  if (url.length > 2 * limits.outputChars) claimOutput(url.length);
  const answer = url.isWellFormed() ? send(kind, url, url.length) : '"not decodable as base64"';
  if (typeof answer === 'string') throw new RealTypeError(`${MEDIA[name]}, and this is ${parse(answer)}`);
  if (answer === undefined || answer === NO_MEMORY) throw outOfMemory();
  if (answer === TOO_MANY) {
    throw new RealRangeError(
      `${name}: a script may show ${limits.imagesPerCell} different images, and this would be one more; show fewer`,
    );
  }
  // The host has added it, or says by the sign that it is over the limit: then this throws.
  claimOutput(answer < 0 ? -answer : answer);
}

const image = (value) => addMedia(KIND.image, 'image', value);
const audio = (value) => addMedia(KIND.audio, 'audio', value);
