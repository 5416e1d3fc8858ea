import type { Context } from '../../../context.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
import { badRequest, conflict, invalid, invalidAt, notFound } from '../../../library/errors.ts';
import { validateContext } from '../../../expressions/schemas/context-schema.ts';
import type { Refusal } from '../../runs/admission/candidate.ts';
import { recordRuns } from '../../runs/admission/record-runs.ts';
import { toRequestKey } from '../../runs/admission/request-key.ts';
import { findRuns, type RunRow } from '../../runs/store.ts';
import { existingWorkflow } from '../../definitions/existing-workflow.ts';
import { existingTrigger } from '../change-trigger.ts';
import { EvaluationError } from '../../../expressions/templates/render.ts';
import { evaluateTrigger } from '../match-trigger.ts';
import { triggersByIdStatement } from '../store.ts';
import { causeWithContext } from '../../runs/cause.ts';
import { tryLaunchRuns, requireStartCapacity } from '../../runs/admission/start-runs.ts';

/** Starts runs of a manual trigger: one for each contact, or one without contact. Throws 400, 404, 409, 422 and 429. */
export async function fireTrigger(
  context: Context,
  workflowId: number,
  triggerId: number,
  input: { context: Record<string, unknown>; contact_ids?: number[] | undefined },
  idempotencyKey?: string,
): Promise<FiredRuns> {
  await existingWorkflow(context, workflowId);
  const row = await existingTrigger(context, triggerId);
  if (row.workflow_id !== workflowId) throw notFound('Trigger');
  if (row.type !== 'manual') throw badRequest(`A ${row.type} trigger fires by itself; only a manual trigger can be fired`);
  const trigger = (await context.database.first(triggersByIdStatement(context.database, context.organization.id, [triggerId])))!;
  if (trigger.state !== 'active') throw conflict(`The trigger is ${trigger.state}; only an active trigger can be fired`);
  if (trigger.workflow_status !== 'active')
    throw conflict(`The workflow is ${trigger.workflow_status}; only an active workflow can be fired`);
  requireContext(JSON.parse(trigger.workflow_context_schema) as object, input.context);
  const own = (JSON.parse(trigger.config) as { context_schema?: object }).context_schema;
  if (own) requireContext(own, input.context);

  const ids = [...new Set(input.contact_ids ?? [])];
  // An empty list of contacts starts no run; without a list, one run starts.
  if (input.contact_ids && !ids.length) return { rows: [], refused: [] };
  const contacts = await findContacts(context, ids);
  const missing = ids.filter((id) => !contacts.has(id));
  if (missing.length) throw notFound(`Contact ${missing.join(', ')}`);
  const request = await toRequestKey(context, { target: `fire:${triggerId}`, input, idempotencyKey });
  const targets = ids.length ? ids.map((id) => contacts.get(id)!) : [null];
  const candidates = targets.flatMap((contact) => {
    const cause = causeWithContext(`${request}:${contact?.id ?? 'none'}`, contact, input.context);
    return renderForCaller(() => evaluateTrigger(context, trigger, cause)) ?? [];
  });
  await requireStartCapacity(context, candidates.length);
  const { stored, refused } = await recordRuns(context, candidates, { state: 'running' });
  if (!stored.length && refused.length) throw conflict(refused[0]!.message);
  const runIds = stored.map((run) => run.id);
  await tryLaunchRuns(context, runIds);
  return { rows: await findRuns(context.database, context.organization.id, runIds), refused };
}

export interface FiredRuns {
  rows: RunRow[];
  refused: Refusal[];
}

/** Turns a template that cannot be rendered from the caller's input into a 422. */
export function renderForCaller<Rendered>(render: () => Rendered): Rendered {
  try {
    return render();
  } catch (error) {
    if (error instanceof EvaluationError) throw invalidAt(['body', 'context'], error.message, 'template_error');
    throw error;
  }
}

/** Throws 422 when a context does not fit the schema. */
export function requireContext(schema: object, given: Record<string, unknown>): void {
  const issues = validateContext(schema, given);
  if (issues.length) throw invalid(issues);
}
