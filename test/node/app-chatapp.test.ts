import { describe, expect, test } from 'vitest';
import { chatapp } from '../../src/providers/apps/chatapp.ts';
import { fakeConnection, owner, startWorld, success } from './broker-world.ts';

const channels = [
  { id: 'C0000000001', name: 'general', isPrivate: false, isMember: true },
  { id: 'C0000000002', name: 'sales', isPrivate: false, isMember: false },
  { id: 'G0000000003', name: 'deals', isPrivate: true, isMember: true },
];

describe('channels', () => {
  test('come from every page', async () => {
    const { connect, received } = await startWorld();
    const { listChannels } = chatapp(await connect('chatapp'));
    expect(await listChannels()).toEqual({ channels, isComplete: true });
    const pages = await received('slack', '/api/conversations.list');
    expect(pages.map(({ query }) => query['cursor'] !== undefined)).toEqual([false, true]);
    expect(pages[0]!.query).toEqual({ types: 'public_channel,private_channel', exclude_archived: 'true', limit: '999' });
  });

  test('are the public ones alone where the grant covers no others', async () => {
    const { connect } = await startWorld();
    const { listChannels } = chatapp(await connect('chatapp', { scopes: 'channels:read,chat:write' }));
    expect(await listChannels()).toEqual({ channels: channels.slice(0, 2), isComplete: true });
  });

  test('that the grant does not cover are forbidden by the scope that is missing', async () => {
    const { connect } = await startWorld();
    const { listChannels } = chatapp(await connect('chatapp', { scopes: 'chat:write' }));
    expect(await listChannels()).toEqual({
      failure: 'insufficient_permissions',
      message: 'needs channels:read (granted: chat:write)',
      code: 'missing_scope',
    });
  });

  test('end after twenty pages, and say that there are more', async () => {
    const { connection, asked } = fakeConnection((_request, index) => ({
      data: { ok: true, channels: [{ id: `C${index}`, name: 'one' }], response_metadata: { next_cursor: 'more' } },
    }));
    const listed = await success(chatapp(connection).listChannels());
    expect([listed.channels.length, listed.isComplete, asked.length]).toEqual([20, false, 20]);
  });

  test('are asked for again when Slack is busy or fails for a moment', async () => {
    const { connect, plan, waits } = await startWorld();
    const { listChannels } = chatapp(await connect('chatapp'));
    const list = { provider: 'slack', match: { path: '/api/conversations.list' } };
    await plan({ ...list, status: 429, body: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '2' } });
    await plan({ ...list, status: 503, body: 'down' });
    expect(await listChannels()).toEqual({ channels, isComplete: true });
    expect(waits).toEqual([2_000, 500]);
  });

  test('whose answer makes no sense are unavailable', async () => {
    for (const data of ['<html>', null, [], { ok: true }, { ok: true, channels: [{ id: 1 }] }]) {
      const { connection } = fakeConnection(() => ({ data }));
      expect(await chatapp(connection).listChannels()).toMatchObject({
        failure: 'unavailable',
        message: expect.stringContaining('cannot be understood'),
      });
    }
  });
});

describe('a message', () => {
  test('is posted as it stands', async () => {
    const { connect, received, url } = await startWorld();
    const { post } = chatapp(await connect('chatapp'));
    const text = 'Call with *Ada* — done\n<https://example.com|report>';
    const { channel, ts } = await success(post({ channel: 'C0000000001', text }));
    expect([channel, /^\d{10}\.\d{6}$/.test(ts)]).toEqual(['C0000000001', true]);
    expect((await received('slack'))[0]!.body).toEqual({ channel: 'C0000000001', text });
    const { messages } = (await (await fetch(`${url}/slack/__sim/messages?customer=${owner}`)).json()) as { messages: object[] };
    expect(messages).toEqual([{ channel, ts, text }]);
  });

  test.each([
    ['C999', 'hello', 'channel_not_found', 'choose another one'],
    ['C0000000002', 'hello', 'not_in_channel', 'invite it'],
    ['C0000000001', '', 'no_text', 'no text'],
    ['C0000000001', 'x'.repeat(40_001), 'msg_too_long', 'shorten it'],
  ])('to %s that cannot be posted is rejected as %4$s', async (channel, text, code, words) => {
    const { connect } = await startWorld();
    const { post } = chatapp(await connect('chatapp', { scopes: 'channels:read,chat:write' }));
    expect(await post({ channel, text })).toEqual({ failure: 'rejected', code, message: expect.stringContaining(words) });
  });

  test('is never posted twice: what Slack may have done is said to be unknown', async () => {
    const { connect, plan, received, waits } = await startWorld();
    const { post } = chatapp(await connect('chatapp'));
    const message = { channel: 'C0000000001', text: 'once' };
    const posting = { provider: 'slack', match: { path: '/api/chat.postMessage' } };
    await plan({ ...posting, drop_response: true });
    expect(await post(message)).toMatchObject({ failure: 'unavailable', outcomeUnknown: true });
    await plan({ ...posting, status: 500 });
    expect(await post(message)).toMatchObject({ failure: 'unavailable', outcomeUnknown: true });
    await plan({ ...posting, status: 429, headers: { 'retry-after': '1' } });
    const limited = await post(message);
    expect(limited).toMatchObject({ failure: 'rate_limited', retryAfterSeconds: 1 });
    expect(limited).not.toHaveProperty('outcomeUnknown');
    expect(await received('slack')).toHaveLength(3);
    expect(waits).toEqual([]);
  });
});
