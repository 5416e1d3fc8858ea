import { afterEach, expect, test } from 'vitest';
import { isEventNeeded, publish, setSubscriptions } from '../../src/outbox/published-events.ts';
import { subscriptions } from '../../src/subscriptions.ts';
import { newOrganization } from '../support/organization.ts';
import { contextOf } from '../voice-agents/runs.ts';

afterEach(() => setSubscriptions(subscriptions));

test('a publisher waits for every subscriber, and gets the error of the first that fails', async () => {
  const context = await contextOf((await newOrganization()).id);
  const handled: string[] = [];
  const recordLater = async (entry: string) => {
    await scheduler.wait(1);
    handled.push(entry);
  };
  const second = { handle: () => recordLater('second') };
  const subscribeBefore = (handle: (agentId: number) => Promise<void>) =>
    setSubscriptions({ ...subscriptions, 'agent.archived': [{ handle: (_, { agentId }) => handle(agentId) }, second] });
  subscribeBefore((agentId) => recordLater(`first ${agentId}`));
  await publish(context, 'agent.archived', { agentId: 7 });
  expect(handled).toEqual(['first 7', 'second']);
  subscribeBefore(async () => Promise.reject(new Error('out of reach')));
  await expect(publish(context, 'agent.archived', { agentId: 8 })).rejects.toThrow('out of reach');
  expect(handled).toEqual(['first 7', 'second']);
});

test('an event that journeys start from is needed once an active trigger waits for it; others always are', async () => {
  const context = await contextOf((await newOrganization()).id);
  expect(await isEventNeeded(context, 'document.failed')).toBe(false);
  expect(await isEventNeeded(context, 'agent.archived')).toBe(true);
});
