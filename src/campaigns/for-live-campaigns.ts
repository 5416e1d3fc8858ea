import type { Context } from '../accounts/context.ts';
import { campaignObject } from './campaign-object.ts';
import { liveCampaignIds } from './store.ts';

const pageSize = 500;
const parallel = 6;

type Call = Parameters<typeof campaignObject<void>>[3];

/** Tells the objects of all live campaigns, or of those of one agent. Throws the first failure once all were told. */
export async function forLiveCampaigns({ bindings, database, organization }: Context, agentId: number | null, tell: Call): Promise<void> {
  const failures: unknown[] = [];
  for (let after = 0; ;) {
    const ids = await liveCampaignIds(database, organization.id, agentId, after, pageSize);
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
