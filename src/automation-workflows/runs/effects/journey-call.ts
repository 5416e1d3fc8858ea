import type { Context } from '../../../context.ts';
import { existingAgentWithDefinition } from '../../../voice-agents/agents/find-agents.ts';
import { explainUnsound } from '../../../voice-agents/agents/soundness.ts';
import { attemptKey } from '../../../calls/contract.ts';
import { requestCall, withdrawCall } from '../../../calls/placing/start-call.ts';
import type { CallRequest, StartedCall } from '../../nodes/contract.ts';
import type { ParentRun } from './child-run.ts';

const toCallOwner = (runId: number) => ({ kind: 'journey' as const, id: runId });

/** Requests the call of a step. The same `item` again is the same call. Throws 404 and 409. */
export async function startJourneyCall(context: Context, run: ParentRun, item: string, request: CallRequest): Promise<StartedCall> {
  const agent = await existingAgentWithDefinition(context, request.workflow_id);
  const owner = toCallOwner(run.id);
  const { runId } = await requestCall(context, {
    owner,
    key: attemptKey(owner, item),
    agent,
    unsound: await explainUnsound(context, agent.workflow_definition, agent.id),
    phone: request.phone,
    contactId: run.contactId,
    automationRunId: run.id,
    initialContext: request.initial_context,
    notAfter: request.not_after,
  });
  return { call_run_id: runId };
}

/** Withdraws a call that has not been dialled. A call that is unknown or under way is left alone. Repeatable. */
export const withdrawJourneyCall = (context: Context, runId: number, item: string): Promise<void> =>
  withdrawCall(context, attemptKey(toCallOwner(runId), item));
