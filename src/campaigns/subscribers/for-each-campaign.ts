import type { Context } from '../../context.ts';
import { callCampaignObject } from '../campaign-stub.ts';
import { findStartedCampaignIds } from './store.ts';
import { findLiveCampaignIds } from '../store.ts';

const livePageSize = 500;
const startedPageSize = 50;
const maxConcurrentCalls = 6;

type CampaignCall = Parameters<typeof callCampaignObject<void>>[3];

/** Tells the objects of all live campaigns, or of those of one agent. Throws the first failure once all were told. */
export const forEachLiveCampaign = (context: Context, agentId: number | null, tell: CampaignCall): Promise<void> =>
  forEachCampaign(
    context,
    livePageSize,
    (after, limit) => findLiveCampaignIds(context.database, context.organization.id, agentId, after, limit),
    tell,
  );

/** Tells the objects of all campaigns but drafts, which have none. Throws the first failure once all were told. */
export const forEachStartedCampaign = (context: Context, tell: CampaignCall): Promise<void> =>
  forEachCampaign(
    context,
    startedPageSize,
    (after, limit) => findStartedCampaignIds(context.database, context.organization.id, after, limit),
    tell,
  );

async function forEachCampaign(
  { bindings, organization }: Context,
  pageSize: number,
  idsAfter: (after: number, limit: number) => Promise<number[]>,
  tell: CampaignCall,
): Promise<void> {
  const failures: unknown[] = [];
  for (let after = 0; ;) {
    const ids = await idsAfter(after, pageSize);
    const waiting = [...ids];
    const worker = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
        await callCampaignObject(bindings, organization.id, id, tell).catch((error: unknown) => failures.push(error));
    };
    await Promise.all(Array.from({ length: Math.min(maxConcurrentCalls, ids.length) }, worker));
    if (ids.length < pageSize) break;
    after = ids.at(-1)!;
  }
  if (failures.length) throw failures[0];
}
