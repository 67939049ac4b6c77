import { loadEngine } from './assets.js';
import { Guest, silentHost } from './thread/guest.js';
import { BaseImage } from './thread/image.js';
import { EngineInstance } from './thread/instance.js';

/**
 * SHA-256 of the base image that this build makes: what image.json has to pin. Equal on every machine and Node version
 * (spec: protocols, rule 1); it changes with the engine, the prelude and the limits.
 */
export async function computeImageVersion(): Promise<string> {
  const { module, prelude } = await loadEngine();
  const engine = await EngineInstance.create(module, silentHost);
  Guest.build(engine, prelude);
  return BaseImage.take(engine).version;
}
