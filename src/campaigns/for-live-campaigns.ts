import type { Context } from '../accounts/context.ts';
import { campaignObject } from './campaign-object.ts';
import { startedCampaignIds } from './store-started.ts';
import { liveCampaignIds } from './store.ts';

const livePageSize = 500;
const startedPageSize = 50;
const parallel = 6;

type Call = Parameters<typeof campaignObject<void>>[3];

/** Tells the objects of all live campaigns, or of those of one agent. Throws the first failure once all were told. */
export const forLiveCampaigns = (context: Context, agentId: number | null, tell: Call): Promise<void> =>
  forCampaigns(
    context,
    livePageSize,
    (after, limit) => liveCampaignIds(context.database, context.organization.id, agentId, after, limit),
    tell,
  );

/** Tells the objects of all campaigns but drafts, which have none. Throws the first failure once all were told. */
export const forStartedCampaigns = (context: Context, tell: Call): Promise<void> =>
  forCampaigns(
    context,
    startedPageSize,
    (after, limit) => startedCampaignIds(context.database, context.organization.id, after, limit),
    tell,
  );

async function forCampaigns(
  { bindings, organization }: Context,
  pageSize: number,
  idsAfter: (after: number, limit: number) => Promise<number[]>,
  tell: Call,
): Promise<void> {
  const failures: unknown[] = [];
  for (let after = 0; ;) {
    const ids = await idsAfter(after, pageSize);
    const waiting = [...ids];
    const worker = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
        await campaignObject(bindings, organization.id, id, tell).catch((error: unknown) => failures.push(error));
    };
    await Promise.all(Array.from({ length: Math.min(parallel, ids.length) }, worker));
    if (ids.length < pageSize) break;
    after = ids.at(-1)!;
  }
  if (failures.length) throw failures[0];
}
