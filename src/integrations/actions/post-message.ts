import type { Context } from '../../context.ts';
import { chatapp } from '../../providers/apps/chatapp.ts';
import type { ChatappData } from '../contract.ts';
import { actionFailure, withConnection, type ActionFailure } from './run-action.ts';

export interface ChatMessage {
  /** Id or name; null: the integration's default channel. */
  channel: string | null;
  /** Slack's mrkdwn. Text of others must be escaped with `escapeMrkdwn`. */
  text: string;
}

/** `channel`: the id of the channel; `ts`: the provider's id of the message in the channel. */
export interface PostedMessage {
  channel: string;
  ts: string;
}

/** Posts a message to a channel. Slack has no idempotency key: a message of unknown outcome may have been posted. */
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

/** Escapes text so that it has no links and mentions (https://docs.slack.dev/messaging/formatting-message-text). */
export const escapeMrkdwn = (text: string): string => text.replace(/[&<>]/g, (mark) => mrkdwnEntities[mark]!);
