import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { callSchemaSteps, newCallSchema } from '../../durable-objects/call/schema.ts';
import { StoredConversation } from '../../durable-objects/call/stored-conversation.ts';
import type { ConversationEvent, ConversationState, StoredMessage } from '../../src/voice-agents/conversation/contract.ts';

/** The storage of an object that was never created, so that no class of ours has made tables. */
const withStorage = <Answer>(name: string, use: (storage: DurableObjectStorage) => Answer): Promise<Answer> =>
  runInDurableObject(env.CALL.getByName(`schema/${name}`), (_object, { storage }) => use(storage));

const tablesOf = ({ sql }: DurableObjectStorage) =>
  sql
    .exec<{ name: string; sql: string | null }>(
      "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\' ORDER BY name",
    )
    .toArray();

test('a new call has the tables that a call of an earlier version has after its steps', async () => {
  const stepped = await withStorage('stepped', (storage) => {
    for (const step of callSchemaSteps) storage.sql.exec(step);
    return tablesOf(storage);
  });
  const made = await withStorage('made', (storage) => {
    storage.sql.exec(newCallSchema);
    return tablesOf(storage);
  });
  expect(made.map(({ name }) => name)).toEqual(['call', 'change', 'chat_turn', 'recording', 'tries']);
  expect(made).toEqual(stepped);
});

test('what a call of an earlier version has said goes on with what is said next', async () => {
  const message = (id: number, text: string) => ({ id, role: 'user', text, at: id }) as unknown as StoredMessage;
  const event = (type: string): ConversationEvent => ({ type, at: '2026-01-01T00:00:00.000Z', node_id: 'start', payload: {} });
  const state = (nodeId: string) => ({ nodeId, nextMessageId: 3 }) as unknown as ConversationState;
  await withStorage('earlier', (storage) => {
    const { sql } = storage;
    for (const step of callSchemaSteps.slice(0, 3)) sql.exec(step);
    sql.exec('INSERT INTO conversation (only, state) VALUES (1, ?)', JSON.stringify(state('start')));
    for (const one of [message(1, 'Hello'), message(2, 'Is anybody there?')])
      sql.exec('INSERT INTO message (id, message) VALUES (?, ?)', one.id, JSON.stringify(one));
    for (const type of ['line_connected', 'started']) sql.exec('INSERT INTO event (event) VALUES (?)', JSON.stringify(event(type)));
    sql.exec(callSchemaSteps[3]!);
    const before = new StoredConversation(storage);
    expect(before.state()).toEqual(state('start'));
    expect(before.messages().map(({ text }) => text)).toEqual(['Hello', 'Is anybody there?']);
    before.commit({ state: state('bye'), messages: [message(3, 'Bye')], removed: [2], events: [event('ended')] });
    const after = new StoredConversation(storage);
    expect(after.state()).toEqual(state('bye'));
    expect(after.messages().map(({ text }) => text)).toEqual(['Hello', 'Bye']);
    expect(after.events().map(({ type }) => type)).toEqual(['line_connected', 'started', 'ended']);
    expect(after.countEvents('started')).toBe(1);
  });
});

test('a call of an earlier version that has said nothing has no state', async () => {
  await withStorage('silent', (storage) => {
    for (const step of callSchemaSteps) storage.sql.exec(step);
    const conversation = new StoredConversation(storage);
    expect([conversation.state(), conversation.messages(), conversation.events()]).toEqual([null, [], []]);
  });
});
