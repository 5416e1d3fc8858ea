import { z } from 'zod';
import type { AppFailure } from '../broker/broker.ts';
import { createAppClient, type AppConnection } from './app-client.ts';

interface Channel {
  id: string;
  name: string;
  isPrivate: boolean;
  /** Whether the app, or the connected person, is a member. */
  isMember: boolean;
}

export interface Chatapp {
  /** The channels without archived ones; private ones if the grant allows. `isComplete` false: there are more. */
  listChannels(): Promise<{ channels: Channel[]; isComplete: boolean } | AppFailure>;
  /**
   * Posts a message. `channel`: an id; `text`: Slack's mrkdwn. Slack has no idempotency key: a message of unknown outcome may have been
   * posted.
   */
  post(message: { channel: string; text: string }): Promise<{ channel: string; ts: string } | AppFailure>;
}

const api = 'https://slack.com/api';
const maxPages = 20;
/** Slack recommends less than 1,000. A page may be shorter although more pages follow. */
const pageSize = '999';

const ChannelPage = z.object({
  channels: z.array(
    z.object({ id: z.string(), name: z.string(), is_private: z.boolean().default(false), is_member: z.boolean().default(false) }),
  ),
  response_metadata: z.object({ next_cursor: z.string().default('') }).optional(),
});
const Posted = z.object({ channel: z.string(), ts: z.string() });

/** The Web API of Slack (https://docs.slack.dev/reference/methods). */
export function chatapp(connection: AppConnection): Chatapp {
  const ask = createAppClient('chatapp', connection);

  async function channelsOf(types: string): Promise<{ channels: Channel[]; isComplete: boolean } | AppFailure> {
    const channels: Channel[] = [];
    let cursor = '';
    for (let page = 0; page < maxPages; page++) {
      const query = { types, exclude_archived: 'true', limit: pageSize, ...(cursor && { cursor }) };
      const answer = await ask({ method: 'GET', url: `${api}/conversations.list`, query }, ChannelPage);
      if ('failure' in answer) return answer;
      for (const { id, name, is_private, is_member } of answer.data.channels)
        channels.push({ id, name, isPrivate: is_private, isMember: is_member });
      cursor = answer.data.response_metadata?.next_cursor ?? '';
      if (!cursor) return { channels, isComplete: true };
    }
    return { channels, isComplete: false };
  }

  return {
    async listChannels() {
      const all = await channelsOf('public_channel,private_channel');
      const isPrivateForbidden = 'failure' in all && all.code === 'missing_scope' && /groups:read/.test(all.message);
      return isPrivateForbidden ? channelsOf('public_channel') : all;
    },

    async post({ channel, text }) {
      const answer = await ask({ method: 'POST', url: `${api}/chat.postMessage`, body: { channel, text } }, Posted);
      return 'failure' in answer ? answer : answer.data;
    },
  };
}
