/** A conversation of one tenant: the scope of every look-up. */
export interface ConversationRef {
  tenantId: string;
  conversationId: string;
}

/**
 * The owner of cells, values, notes and artifacts. `writer` is the member in a room and the empty text in a direct
 * conversation, whose writer is the conversation itself.
 */
export interface Owner extends ConversationRef {
  epoch: number;
  writer: string;
}

/** The two kinds of conversation. */
export type ConversationKind = 'direct' | 'room';

/**
 * Who the writer is. In a room that is the member, who must be named; in a direct conversation a member is recorded
 * but does not split ownership. Undefined means that the member is missing.
 */
export function writerOf(kind: ConversationKind, memberId: string | undefined): string | undefined {
  return kind === 'direct' ? '' : memberId;
}
