import { isPlatformName } from '#libs/core';
import { z } from 'zod';

const nameRule = '1 to 128 characters of A-Z a-z 0-9 . _ : -, and not "." or ".."';

function platformName(what: string, id: string) {
  return z
    .string()
    .max(128, `a ${what} has ${nameRule}`)
    .refine(isPlatformName, `a ${what} has ${nameRule}`)
    .meta({ id, description: `A ${what}, named by the platform: ${nameRule}.`, pattern: '^[A-Za-z0-9._:-]{1,128}$' });
}

/** Path parameter `{c}`. */
export const conversationIdSchema = platformName('conversation id', 'ConversationId');
/** A person in a room. Required in rooms for everything that touches cells and values. */
export const memberIdSchema = platformName('member id', 'MemberId');
/** A path through the conversation's history; `main` exists from the start. */
export const branchIdSchema = platformName('branch id', 'BranchId');
/** A tenant's toolset. */
export const toolsetNameSchema = platformName('toolset name', 'ToolsetName');

/**
 * Path and body parameter: the id of a cell. Any text is let through, for a malformed id must look like one that
 * never existed.
 */
export const cellIdSchema = z.string().meta({
  id: 'CellId',
  description: 'A cell: `c_` and 16 characters of Crockford base32. Unguessable and never reused.',
  example: 'c_7ZK3M9QH2V4XN8TB',
});
