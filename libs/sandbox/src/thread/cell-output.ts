import { Buffer } from 'node:buffer';
import type { JSValueConstPointer } from 'quickjs-emscripten';
import { limits } from '#libs/core';
import type { ScriptState } from '../script-state.js';
import type { Guest } from './guest.js';
import { EngineAbortError } from './imports.js';
import { ANSWER, AS_JSON } from './kinds.js';
import { checkMedia, type MediaCheck, type MediaKind } from './media.js';
import type { Outbox } from './outbox.js';

/** Largest text of a file with its whitespace, in bytes: the prelude sends no longer one. */
const MEDIA_BYTES = 6 * limits.outputChars;

/** What one script writes, on its thread: texts, console lines, files and notes, counted. */
export class CellOutput {
  /** Items of output so far. */
  items = 0;
  private chars = 0;
  private notes = 0;
  private notesBytes = 0;
  /** Hashes of the images so far. */
  private readonly images = new Set<string>();

  constructor(
    private readonly cell: number,
    private readonly guest: Guest,
    private readonly outbox: Outbox,
  ) {}

  /** The counts, for an image; `restore` takes them back. */
  get state(): Pick<ScriptState, 'items' | 'chars' | 'notes' | 'notesBytes' | 'images'> {
    const { items, chars, notes, notesBytes } = this;
    return { items, chars, notes, notesBytes, images: [...this.images] };
  }

  restore({ items, chars, notes, notesBytes, images }: ScriptState): void {
    Object.assign(this, { items, chars, notes, notesBytes });
    for (const hash of images) this.images.add(hash);
  }

  /** Takes a text. The prelude keeps the limits. */
  add(kind: 'text' | 'console', code: number, payload: JSValueConstPointer, chars: number): number | undefined {
    const room = limits.outputChars - this.chars;
    const text = this.read(code, payload, chars, room);
    if (typeof text === 'number') return text;
    if (text.length > room || this.items >= limits.outputItems) throw new EngineAbortError('output over its limit');
    this.chars += text.length;
    this.items += 1;
    this.outbox.add({ kind, text });
    return undefined;
  }

  /**
   * Takes the data: URL of a file. The number of characters added; negative when they would be too many; `tooMany`
   * for one more image than a cell may keep; JSON of what the text is instead of such a file.
   */
  media(kind: MediaKind, payload: JSValueConstPointer, chars: number): number | string {
    const url = this.guest.textOf(payload, MEDIA_BYTES);
    if (url === undefined) return ANSWER.noMemory;
    const checked: MediaCheck =
      url.length === chars ? checkMedia(kind, url) : { ok: false, problem: 'not decodable as base64' };
    if (!checked.ok) return JSON.stringify(checked.problem);
    const { data, mimeType, hash } = checked;
    const isNew = kind === 'image' && !this.images.has(hash);
    if (isNew && this.images.size >= limits.imagesPerCell) return ANSWER.tooMany;
    if (this.chars + data.length > limits.outputChars || this.items >= limits.outputItems) return -data.length;
    this.chars += data.length;
    this.items += 1;
    if (isNew) this.images.add(hash);
    this.outbox.add({ kind, data, mimeType, ...(kind === 'image' ? { hash } : {}) });
    return data.length;
  }

  /** Takes a note, or says which limit it would break. */
  note(code: number, payload: JSValueConstPointer, chars: number): number | undefined {
    const text = this.read(code, payload, chars, limits.noteBytes);
    if (typeof text === 'number') return text;
    const bytes = Buffer.byteLength(text);
    if (bytes > limits.noteBytes) return ANSWER.tooLong;
    if (this.notes >= limits.notes || this.notesBytes + bytes > limits.notesBytes) return ANSWER.tooMany;
    this.notes += 1;
    this.notesBytes += bytes;
    this.outbox.tell({ type: 'note', cell: this.cell, text });
    return undefined;
  }

  /** A text of at most `room` characters, or the answer that says why there is none. */
  private read(code: number, payload: JSValueConstPointer, chars: number, room: number): string | number {
    const isJson = (code & AS_JSON) !== 0;
    const raw = this.guest.textOf(payload, isJson ? 6 * room + 2 : 3 * room);
    if (raw === undefined) return ANSWER.noMemory;
    const text = isJson ? String(JSON.parse(raw)) : raw;
    return text.length !== chars && !isJson ? ANSWER.needsJson : text;
  }
}
