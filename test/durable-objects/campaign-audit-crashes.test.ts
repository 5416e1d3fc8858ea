// @module-tag soak
import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import type { Actor } from '../../src/database/audit/actor.ts';
import { draftCampaign, inside, newActionId, people, runningCampaign, until, type Drafted } from '../campaigns/live-campaigns.ts';
import { crashAtCall, type CrashPoint } from '../support/crashing-object.ts';

type Watchable = Parameters<typeof crashAtCall>[0];

const newActor = ({ organizationId }: Drafted, action: string): Actor => ({
  organizationId,
  requestId: crypto.randomUUID(),
  action,
  userId: 7,
  credential: 'session:0123456789abcdef',
  address: null,
  at: Date.now(),
  record: { type: 'campaign', id: null },
  isSummary: false,
});

/** Calls an object again when the call broke, as its callers do. */
async function again<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

/** Has the object do its due work, some minutes later each time, and reads the log. */
async function entriesOf(
  campaign: Drafted,
  isThere: (actions: string[]) => void,
): Promise<{ action: string; user_id: number; change: string }[]> {
  let aheadMs = 0;
  let entries: { action: string; user_id: number; change: string }[] = [];
  await until(async () => {
    aheadMs += 150_000;
    await inside(campaign.stub(), async (object) => {
      object.clock = () => Date.now() + aheadMs;
      await object.alarm();
    }).catch(() => undefined);
    const { results } = await env.DB.prepare(
      "SELECT action, user_id, change FROM audit_entry WHERE organization_id = ? AND record_type = 'campaign' ORDER BY id",
    )
      .bind(campaign.organizationId)
      .all<{ action: string; user_id: number; change: string }>();
    entries = results;
    isThere(entries.map(({ action }) => action));
  });
  return entries;
}

const moments: CrashPoint[] = ['before', 'after'];
const calls = [1, 2, 3, 4, 5, 6];

describe.each(['pause', 'cancel'] as const)('an object that dies while a person has it %s', (verb) => {
  test.each(calls.flatMap((n) => moments.map((moment) => [n, moment] as const)))(
    'at call %i, %s it, has the entry once',
    async (n, moment) => {
      const campaign = await runningCampaign({ csv: people(30), configs: { max_concurrency: 1 } });
      const watch = await crashAtCall(campaign.stub() as unknown as Watchable, n, moment);
      campaign.slots.watched = (call) => watch.watched(call);
      const actionId = newActionId();
      const actor = newActor(campaign, `campaigns.${verb}`);
      await again(() => campaign.stub()[verb](actionId, actor));
      const entries = await entriesOf(campaign, (actions) => expect(actions).toEqual([`campaigns.${verb}`]));
      expect(entries[0]).toMatchObject({ user_id: 7 });
      expect(JSON.parse(entries[0]!.change).state).toEqual({ before: 'running', after: verb === 'pause' ? 'paused' : 'cancelled' });
      expect(JSON.parse(entries[0]!.change)).not.toHaveProperty('in_flight');
    },
  );
});

test.each(calls.flatMap((n) => moments.map((moment) => [n, moment] as const)))(
  'an object that dies at call %i while a person starts it, %s it, has the entry once',
  async (n, moment) => {
    const campaign = await draftCampaign({ csv: people(3) });
    const watch = await crashAtCall(campaign.stub() as unknown as Watchable, n, moment);
    campaign.slots.watched = (call) => watch.watched(call);
    const actionId = newActionId();
    const actor = newActor(campaign, 'campaigns.start');
    await again(() => campaign.stub().start(campaign.organizationId, campaign.id, actionId, actor));
    await entriesOf(campaign, (actions) => expect(actions).toEqual(['campaigns.start']));
  },
);
