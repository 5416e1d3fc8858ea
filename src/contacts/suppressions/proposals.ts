import type { Context } from '../../context.ts';
import { cutPage, decodeCursor, type PageResult } from '../../http/pagination.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { publish } from '../../outbox/published-events.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import * as store from './proposal-store.ts';
import type { ProposalRow } from './proposal-store.ts';
import type { ProposalQuery } from './schemas.ts';
import type { SuppressionRow } from './store.ts';
import { toSuppressionToWrite } from './suppressions.ts';

export interface NewProposal {
  /** E.164. */
  phone: string;
  contactId: number | null;
  callRunId: number;
  reason: string;
}

/** Proposes to suppress a number, for a person to decide. Once a call; repeatable. */
export const proposeSuppression = ({ database, organization, clock }: Context, proposal: NewProposal): Promise<void> =>
  store.insertProposal(database, organization.id, proposal, clock());

/** One page of the proposals in a state, newest first. */
export async function listProposals(context: Context, { state, limit, offset, cursor }: ProposalQuery): Promise<PageResult<ProposalRow>> {
  const { rows, total, isCapped } = await store.listProposals(context.database, context.organization.id, {
    state,
    before: decodeCursor(cursor)?.id,
    limit,
    offset,
  });
  return { ...cutPage(rows, limit, ({ id }) => ({ value: null, id })), total, totalCapped: isCapped };
}

/** Suppresses the number of an open proposal for good, for the user `by`. Throws 404, and 409 when somebody has decided. */
export async function confirmProposal(context: Context, id: number, by: number): Promise<SuppressionRow> {
  const proposal = await existingOpenProposal(context, id);
  const suppression = toSuppressionToWrite({
    phone: proposal.phone,
    reason: `do_not_call: confirmed after call ${proposal.call_run_id}`,
    source: 'call',
    callRunId: proposal.call_run_id,
    createdBy: by,
  });
  const now = context.clock();
  const decided = await store.decideProposal(context.database, context.organization.id, proposal, suppression, { by, now });
  if (!decided.suppression) throw decidedBefore(decided.proposal);
  await publish(context, 'webhook_event.recorded', { type: 'suppression.added' });
  return decided.suppression;
}

/** Leaves the number of an open proposal as it is, for the user `by`. Throws 404, and 409 when somebody has decided. */
export async function dismissProposal(context: Context, id: number, by: number): Promise<ProposalRow> {
  const proposal = await existingOpenProposal(context, id);
  const now = context.clock();
  const decided = await store.decideProposal(context.database, context.organization.id, proposal, null, { by, now });
  if (decided.proposal?.state !== 'dismissed') throw decidedBefore(decided.proposal);
  return decided.proposal;
}

async function existingOpenProposal({ database, organization }: Context, id: number): Promise<ProposalRow> {
  const proposal = await store.findProposal(database, organization.id, id);
  if (!proposal) throw notFound('Proposal');
  if (proposal.state !== 'open') throw decidedBefore(proposal);
  return proposal;
}

const decidedBefore = (proposal: ProposalRow | undefined) =>
  proposal
    ? conflict(
        `The proposal was ${proposal.state} at ${toTimestamp(proposal.decided_at!)}; change the number's suppression under /contacts/suppressions`,
      )
    : notFound('Proposal');
