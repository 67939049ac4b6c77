import type { SharedLimits } from '#libs/config';
import { type ConversationSettings, defaultSettings } from '#libs/core';
import type { ConversationRow } from '#libs/persistence';

/** All settings of a conversation: what was set, else the deployment's defaults; within the deployment's maximum. */
export function settingsInForce(
  { settings }: Pick<ConversationRow, 'settings'>,
  { retentionMs, maxOutputTokens }: Pick<SharedLimits, 'retentionMs' | 'maxOutputTokens'>,
): ConversationSettings {
  const all: ConversationSettings = { ...defaultSettings, retentionMs, ...settings };
  return { ...all, maxOutputTokens: Math.min(all.maxOutputTokens, maxOutputTokens) };
}
