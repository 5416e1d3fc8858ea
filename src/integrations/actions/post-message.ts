import type { Context } from '../../context.ts';
import { chatapp } from '../../providers/apps/chatapp.ts';
import type { ChatappData } from '../contract.ts';
import { actionFailure, withConnection, type ActionFailure } from './run-action.ts';

export interface ChatMessage {
  /** Id or name; null: the integration's default channel. */
  channel: string | null;
  /** Slack's mrkdwn. What others have written must be escaped in it: see `escapeMrkdwn`. */
  text: string;
}

/** `channel`: the id; `ts`: the provider's name of the message in it. */
export interface PostedMessage {
  channel: string;
  ts: string;
}

/** Posts to a channel. Nothing keeps it from being posted twice: an unknown outcome may have been posted. */
export const postMessage = (context: Context, { channel, text }: ChatMessage): Promise<PostedMessage | ActionFailure> =>
  withConnection(context, 'chatapp', async ({ integration, connection }) => {
    const wanted = channel ?? (integration.providerData as ChatappData).channel;
    return wanted === undefined ? noChannelFailure(integration.id) : chatapp(connection).post({ channel: wanted, text });
  });

const noChannelFailure = (id: number) =>
  actionFailure(
    'no_channel',
    `No channel is named, and the chatapp has no default one; choose it with PUT /integration/${id} { "channel": ... }`,
  );

const mrkdwnEntities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Text as it is to be shown: nothing in it is a link or calls anybody (https://docs.slack.dev/messaging/formatting-message-text). */
export const escapeMrkdwn = (text: string): string => text.replace(/[&<>]/g, (mark) => mrkdwnEntities[mark]!);
