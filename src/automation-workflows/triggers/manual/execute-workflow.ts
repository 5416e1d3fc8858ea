import type { z } from '@hono/zod-openapi';
import type { Context } from '../../../context.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
import type { ContactRecord } from '../../../contacts/contacts/records.ts';
import { conflict, invalid, notFound } from '../../../library/errors.ts';
import type { RunRecord, TestBody, TestRunRecord } from '../../runs/schemas.ts';
import { parseSettings } from '../../definitions/settings.ts';
import { definitionIssues } from '../../definitions/validate.ts';
import { existingWorkflow } from '../../definitions/existing-workflow.ts';
import type { WorkflowRow } from '../../definitions/store.ts';
import { renderForCaller, requireContext } from './fire-trigger.ts';
import { previewDelivery } from '../webhooks/preview-delivery.ts';
import { dryRun, type SimulatedEvent } from '../../runs/dry-run/dry-run.ts';
import { runRecords } from '../../runs/queries/records.ts';
import type { RunCandidate } from '../../runs/admission/candidate.ts';
import { recordRuns } from '../../runs/admission/record-runs.ts';
import { toRequestKey } from '../../runs/admission/request-key.ts';
import { findRun } from '../../runs/store.ts';
import { causeWithContext, buildCauseScope, renderEntryKey } from '../../runs/cause.ts';
import { tryLaunchRuns, requireStartCapacity } from '../../runs/admission/start-runs.ts';

export interface ExecuteInput {
  context: Record<string, unknown>;
  contact_id?: number | null | undefined;
  /** The key under which the caller repeats a request whose answer was lost. */
  idempotencyKey?: string | undefined;
}

/** Starts a run of an active workflow and answers its record in state `running`. Throws 404, 409, 422 and 429. */
export async function executeWorkflow(context: Context, workflowId: number, input: ExecuteInput): Promise<z.infer<typeof RunRecord>> {
  const workflow = await existingWorkflow(context, workflowId);
  if (workflow.status !== 'active') throw conflict(`The workflow is ${workflow.status}; only an active workflow can be executed`);
  const candidate = await buildCandidate(context, workflow, input, 'execute');
  return startNow(context, candidate, false);
}

/** Tests a workflow of any status. A dry run answers the ended run with its history; otherwise a test run with side effects starts. Throws 404, 409 and 422. */
export async function testWorkflow(
  context: Context,
  workflowId: number,
  input: ExecuteInput & { dry_run: boolean; events?: SimulatedEvent[] | undefined; webhook?: z.infer<typeof TestBody>['webhook'] },
): Promise<z.infer<typeof TestRunRecord>> {
  const workflow = await existingWorkflow(context, workflowId);
  const issues = await definitionIssues(context, JSON.parse(workflow.definition));
  if (issues.length) throw invalid(issues);
  if (input.webhook) return testDelivery(context, workflow, input.webhook, input.events ?? []);
  const candidate = await buildCandidate(context, workflow, input, input.dry_run ? 'dry run' : 'test');
  return input.dry_run ? dryRun(context, workflow, candidate, input.events ?? []) : startNow(context, candidate, true);
}

/** A dry run of a webhook delivery. The answer shows, beside the run, how the receiver read the delivery and whether it would start a run. */
async function testDelivery(
  context: Context,
  workflow: WorkflowRow,
  given: NonNullable<z.infer<typeof TestBody>['webhook']>,
  events: SimulatedEvent[],
): Promise<z.infer<typeof TestRunRecord>> {
  const { payload, initialContext, contact, report } = await previewDelivery(context, workflow.id, given);
  const contactId = contact?.id || null;
  const candidate = await buildCandidate(context, workflow, { context: initialContext, contact_id: contactId }, 'dry run');
  const run = await dryRun(context, workflow, candidate, events, { webhook: payload, contact });
  return { ...run, webhook: report };
}

async function buildCandidate(
  context: Context,
  workflow: WorkflowRow,
  { idempotencyKey, ...input }: ExecuteInput,
  purpose: 'execute' | 'test' | 'dry run',
): Promise<RunCandidate> {
  requireContext(JSON.parse(workflow.context_schema) as object, input.context);
  const contact = await requireContact(context, input.contact_id ?? null);
  const settings = parseSettings(workflow.settings);
  // A dry run has no side effects that a repeat could do twice.
  const repeatKey = purpose === 'dry run' ? undefined : idempotencyKey;
  const name = await toRequestKey(context, { target: `${purpose}:${workflow.id}`, input, idempotencyKey: repeatKey });
  const cause = causeWithContext(name, contact, input.context);
  return {
    workflow: { id: workflow.id, version: workflow.version, contextSchema: workflow.context_schema, settings },
    triggerId: null,
    contactId: contact?.id ?? null,
    dedupKey: cause.key,
    entryKey: renderForCaller(() =>
      renderEntryKey(settings.entry_key, buildCauseScope(context, cause, context.clock()), contact?.id ?? null, null),
    ),
    source: 'run',
    sourceId: null,
    initialContext: input.context,
    depth: 0,
    isTest: purpose !== 'execute',
  };
}

async function startNow(context: Context, candidate: RunCandidate, allowInactive: boolean): Promise<z.infer<typeof RunRecord>> {
  await requireStartCapacity(context, 1);
  const { stored: rows, refused } = await recordRuns(context, [candidate], { state: 'running', allowInactive });
  const [stored] = rows;
  if (!stored) throw conflict(refused[0]!.message);
  const row = (await findRun(context.database, context.organization.id, stored.id))!;
  await tryLaunchRuns(context, [stored.id]);
  return (await runRecords(context.bindings.FILES, [row]))[0]!;
}

async function requireContact(context: Context, id: number | null): Promise<ContactRecord | null> {
  if (id === null) return null;
  const contact = (await findContacts(context, [id])).get(id);
  if (!contact) throw notFound('Contact');
  return contact;
}
