import type { Grant } from '../grants.ts';
import { requireKnown, SlackError } from './errors.ts';

export interface Conversation {
  id: string;
  name: string;
  is_private: boolean;
  is_member: boolean;
}

export const conversations: Conversation[] = [
  { id: 'C0000000001', name: 'general', is_private: false, is_member: true },
  { id: 'C0000000002', name: 'sales', is_private: false, is_member: false },
  { id: 'G0000000003', name: 'deals', is_private: true, is_member: true },
];

/** The vendor may return fewer than the requested number. The simulator does so, so that every client has to page. */
const maxPerPage = 2;
const scopeOf: Record<string, string> = {
  public_channel: 'channels:read',
  private_channel: 'groups:read',
  mpim: 'mpim:read',
  im: 'im:read',
};

export const missingScope = (scope: string, { scopes = [] }: Grant): SlackError =>
  new SlackError('missing_scope', { needed: scope, provided: scopes.join(',') });

/** A page of channels; `require` refuses what the grant does not cover. */
export function listConversations(given: Record<string, unknown>, require: (scope: string) => void): object {
  requireKnown(given, ['types', 'exclude_archived', 'limit', 'cursor', 'team_id']);
  const types = String(given['types'] ?? 'public_channel').split(',');
  if (types.some((type) => !(type in scopeOf))) throw new SlackError('invalid_types');
  for (const type of types) require(scopeOf[type]!);
  const limit = Number(given['limit'] ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > 999) throw new SlackError('invalid_limit');
  const found = conversations.filter(({ is_private }) => types.includes(is_private ? 'private_channel' : 'public_channel'));
  const start = readCursor(String(given['cursor'] ?? ''), found.length);
  const end = start + Math.min(limit, maxPerPage);
  const channels = found.slice(start, end).map(resource);
  return { channels, response_metadata: { next_cursor: end < found.length ? cursorAt(end) : '' } };
}

const resource = ({ id, name, is_private, is_member }: Conversation): object => ({
  id,
  name,
  is_private,
  is_member,
  is_channel: !is_private,
  is_group: is_private,
  is_im: false,
  is_archived: false,
  num_members: 4,
});

const cursorAt = (index: number): string => Buffer.from(`next:${index}`).toString('base64');

function readCursor(cursor: string, length: number): number {
  if (cursor === '') return 0;
  const index = Number(/^next:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString())?.[1] ?? Number.NaN);
  if (!(index < length)) throw new SlackError('invalid_cursor');
  return index;
}
