import pMap from 'p-map';
import type { Context } from '../context.ts';
import { callCampaignObject, type CampaignRpc } from './rpc.ts';
import { findLiveCampaignIds, findStartedCampaignIds } from './store.ts';

const livePageSize = 500;
const startedPageSize = 50;
const maxConcurrentCalls = 6;

/** Pauses the running campaigns of an archived voice agent. Repeatable. */
export const pauseCampaignsOfAgent = (context: Context, agentId: number): Promise<void> =>
  forEachLiveCampaign(context, agentId, (object) => object.pauseForArchivedAgent());

/** Ends the rows of a deleted contact in all live campaigns. Repeatable. */
export const endCampaignRowsOfContact = (context: Context, contactId: number): Promise<void> =>
  forEachLiveCampaign(context, null, (object) => object.removeContact(contactId));

/** Ends the rows of a deleted contact in all campaigns that were ever started, so that ended campaigns forget the contact, too. Repeatable. */
export const eraseContactInCampaigns = (context: Context, contactId: number): Promise<void> =>
  forEachStartedCampaign(context, (object) => object.removeContact(contactId));

type CampaignCall = (object: CampaignRpc) => Promise<void>;

/** Calls the objects of all live campaigns, or of one agent's. Throws the first failure once all were called. */
const forEachLiveCampaign = (context: Context, agentId: number | null, call: CampaignCall): Promise<void> =>
  forEachCampaign(
    context,
    livePageSize,
    (after, limit) => findLiveCampaignIds(context.database, context.organization.id, agentId, after, limit),
    call,
  );

/** Calls the objects of all campaigns except drafts, which have none. Throws the first failure once all were called. */
const forEachStartedCampaign = (context: Context, call: CampaignCall): Promise<void> =>
  forEachCampaign(
    context,
    startedPageSize,
    (after, limit) => findStartedCampaignIds(context.database, context.organization.id, after, limit),
    call,
  );

async function forEachCampaign(
  { bindings, organization }: Context,
  pageSize: number,
  findIdsAfter: (after: number, limit: number) => Promise<number[]>,
  call: CampaignCall,
): Promise<void> {
  const failures: unknown[] = [];
  for (let after = 0; ;) {
    const ids = await findIdsAfter(after, pageSize);
    await pMap(ids, (id) => callCampaignObject(bindings, organization.id, id, call).catch((error: unknown) => failures.push(error)), {
      concurrency: maxConcurrentCalls,
    });
    if (ids.length < pageSize) break;
    after = ids.at(-1)!;
  }
  if (failures.length) throw failures[0];
}
