import { conversations } from './conversations.ts';
import { requireKnown, SlackError } from './errors.ts';

export interface Message {
  channel: string;
  ts: string;
  text: string;
  thread_ts?: string;
}

const maxTextLength = 40_000;

/** Posts into `posted`. `mayJoin`: also to public channels that the app is not in. */
export function postMessage(given: Record<string, unknown>, posted: Message[], mayJoin: boolean): object {
  requireKnown(given, [
    'channel',
    'text',
    'blocks',
    'attachments',
    'thread_ts',
    'mrkdwn',
    'unfurl_links',
    'unfurl_media',
    'reply_broadcast',
  ]);
  const named = String(given['channel'] ?? '').replace(/^#/, '');
  const channel = conversations.find(({ id, name }) => id === named || name === named);
  if (channel === undefined) throw new SlackError('channel_not_found');
  const text = given['text'];
  if (typeof text !== 'string' || text === '') throw new SlackError('no_text');
  if (text.length > maxTextLength) throw new SlackError('msg_too_long');
  if (!channel.is_member && (channel.is_private || !mayJoin)) throw new SlackError('not_in_channel');
  const thread = typeof given['thread_ts'] === 'string' ? { thread_ts: given['thread_ts'] } : {};
  const last = Number(posted.at(-1)?.ts ?? 0);
  const ts = Math.max(Date.now() / 1000, last + 0.0001).toFixed(6);
  posted.push({ channel: channel.id, ts, text, ...thread });
  return { channel: channel.id, ts, message: { type: 'message', subtype: 'bot_message', text, ts, bot_id: 'B0000000001', ...thread } };
}
