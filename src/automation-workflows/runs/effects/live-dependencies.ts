import type { Context } from '../../../context.ts';
import { readCallResult } from '../../../calls/records/call-result.ts';
import { openSecrets } from '../../../expressions/secrets/secrets.ts';
import { loadChildResult, startChildRun, type ParentRun } from './child-run.ts';
import { subscribeRun } from '../waits/earlier-events.ts';
import { withdrawJourneyCall, startJourneyCall } from './journey-call.ts';
import type { RunDependencies, StepContext } from '../engine/dependencies.ts';
import type { LoadedRun } from '../engine/run-row.ts';
import { editContact } from '../../../contacts/contacts/update-contact.ts';
import { changeMemberships } from '../../../contacts/lists/members.ts';
import { contactFromRow, findContacts, contactsByIdsStatement } from '../../../contacts/contacts/find-contacts.ts';
import { emitEvent } from '../../../events/accept.ts';
import { appendRow } from '../../../integrations/actions/append-row.ts';
import { createEvent } from '../../../integrations/actions/create-event.ts';
import { createIssue } from '../../../integrations/actions/create-issue.ts';
import { postMessage } from '../../../integrations/actions/post-message.ts';
import { searchChunks } from '../../../knowledge-base/search/search-chunks.ts';
import { notFound } from '../../../library/errors.ts';
import type { Json } from '../../../library/json/json.ts';
import { childLineage } from '../../../library/lineage.ts';
import { sendMessage } from '../../../messaging/messages/send-message.ts';
import { urlPolicy } from '../../../providers/http/url-policy.ts';
import { sendGuardedRequest } from '../../../providers/http/guarded-request.ts';
import type { Effects, TextAnswer, TextRequest, GraphNode, NodeType } from '../../nodes/contract.ts';
import type { OutputFormat } from '../../../providers/language-model/contract.ts';
import { loadPinnedModels } from '../../../language-models/pinned-models.ts';
import { createPurposeModel } from '../../../language-models/purpose-models.ts';
import { validateContext } from '../../../expressions/schemas/context-schema.ts';
import { toContactRecord, type ContactRecord } from '../../../contacts/contacts/records.ts';
import { toTimestamp } from '../../../library/time/clock.ts';
import { findNodeType } from '../../nodes/registry.ts';
import { buildScope } from '../../../expressions/templates/scope.ts';
import type { Scope } from '../../../expressions/templates/render.ts';
import type { Progress } from '../engine/progress.ts';
import { runPermissionStatement } from '../store.ts';
import { RecentFacts } from './recent-facts.ts';
import { buildCommonRoots, type RunOrigin } from '../cause.ts';

/** The dependencies of a run that has side effects. `deadline` in epoch ms. */
export function createLiveDependencies(
  context: Context,
  { origin, graph, settings }: Pick<LoadedRun, 'origin' | 'graph' | 'settings'>,
  deadline: number,
  { now, random }: Pick<RunDependencies, 'now' | 'random'>,
): RunDependencies {
  const { organization } = context;
  const recent = new RecentFacts(now);
  const stepRun = { origin, hasQuietHours: settings.quiet_hours !== null, recent };
  return {
    runId: origin.id,
    graph,
    settings,
    deadline,
    organization: { default_country: organization.defaultCountry, timezone: organization.timezone },
    effects: createRunEffects(context, origin, recent),
    dryRun: false,
    now,
    random,
    loadStepContext: (progress, node) => loadStepContext(context, stepRun, progress, node, now()),
    openSecrets: (data) => openSecrets(context.settings.ENCRYPTION_KEY, organization.id, data),
    subscribe: (wait, taken) => subscribeRun(context, origin, wait.historyId, wait.events, taken),
    childResult: (runId) => loadChildResult(context, runId),
    callResult: (callRunId) => readCallResult(context, callRunId),
    withdrawCall: (item) => withdrawJourneyCall(context, origin.id, item),
    shouldYield: () => false,
  };
}

/** The side effects of a run's nodes. Events, contact changes and runs that they cause are one level deeper in the lineage. */
function createRunEffects(context: Context, run: ParentRun, recent: RecentFacts): Effects {
  const contactId = () => {
    if (run.contactId === null) throw notFound('Contact of this run');
    return run.contactId;
  };
  /** A key for one visit in a customer's tool, which another installation with runs of the same ids may use as well. */
  const elsewhere = (key: string) => `${context.organization.id}:${run.createdAt}:${toVisitKey(key)}`;
  return forgettingBefore(recent, {
    async updateContact(_key, change) {
      const known = recent.contact();
      recent.forgetContact();
      const contact = await editContact(context, contactId(), change, { depth: childLineage(run), known });
      if (!contact) throw notFound('Contact of this run');
      recent.setContact(contact);
      return { contact_id: contact.id };
    },
    async changeLists(_key, change) {
      return (await changeMemberships(context, contactId(), change)) as unknown as Json;
    },
    async emitEvent(key, event) {
      const contact = run.contactId === null ? undefined : (await findContacts(context, [run.contactId])).get(run.contactId);
      const accepted = await emitEvent(context, {
        ...event,
        key: toVisitKey(key),
        contactId: contact?.id ?? null,
        phone: contact?.phone ?? null,
        depth: childLineage(run),
      });
      return { event_id: accepted.id };
    },
    httpRequest: (_key, request) => sendGuardedRequest(request, urlPolicy(context.settings)),
    completeText: (_key, request) => completeText(context, request),
    searchKnowledge: (search) => searchChunks(context, search),
    startRun: (key, request) => startChildRun(context, run, toVisitKey(key), request),
    startCall: (item, request) => startJourneyCall(context, run, item, request),
    sendMessage: (key, message) =>
      sendMessage(context, { ...message, sendKey: `step:${key}`, contactId: run.contactId, automationRunId: run.id }),
    postToChannel: (_key, message) => postMessage(context, message),
    createIssue: (key, issue) => createIssue(context, { ...issue, key: elsewhere(key) }),
    createEvent: (key, event) => createEvent(context, { ...event, key: elsewhere(key) }),
    appendRow: (_key, row) => appendRow(context, row),
  });
}

/** Whoever uses an effect, except `updateContact`, after which the contact is known, forgets what was read before. */
const forgettingBefore = (recent: RecentFacts, effects: Effects): Effects =>
  new Proxy(effects, {
    get(target, name: keyof Effects) {
      if (name !== 'updateContact') recent.forget();
      return target[name];
    },
  });

/** A key without its attempt, for an effect that happens once a visit, however often the step is tried. */
const toVisitKey = (key: string): string => key.slice(0, key.lastIndexOf(':'));

/** Asks the language model. An answer to a request with `output_schema` fits the schema, or is a failure. */
async function completeText(context: Context, request: TextRequest): Promise<TextAnswer> {
  const model = createPurposeModel(context.settings, context.organization.id, await loadPinnedModels(context), 'journey');
  const answer = await model.complete({
    model: request.model ?? undefined,
    system: request.system ?? undefined,
    messages: [{ role: 'user', content: request.prompt }],
    output: request.output_schema ? toOutputFormat(request.output_schema) : undefined,
  });
  if ('failure' in answer) return answer;
  const { json, text, model: answeredBy, usage, fallbacks } = answer;
  return { result: json ?? text, model: answeredBy, usage, ...(fallbacks && { fallbacks }) };
}

const maxShownProblems = 3;

const toOutputFormat = (schema: Record<string, unknown>): OutputFormat => ({
  schema,
  validate: (answer) => {
    const problems = validateContext(schema, answer, []).map(({ loc, msg }) => (loc.length > 0 ? `${loc.join('.')}: ${msg}` : msg));
    return problems.length === 0 ? null : problems.slice(0, maxShownProblems).join('; ');
  },
});

/**
 * Reads the scope of a step and, before a side effect, whether the workflow is paused. The contact is read only when the node uses it. At most
 * one D1 call, and none when the last steps have just read the same. `now` in epoch ms.
 */
async function loadStepContext(
  context: Context,
  run: StepContextRun,
  progress: Progress,
  node: GraphNode,
  now: number,
): Promise<StepContext> {
  const { database, organization } = context;
  const { origin, recent } = run;
  const type = findNodeType(node.type);
  const needsContact =
    origin.contactId !== null && (referencesContact(node, type) || (run.hasQuietHours && type?.respectsQuietHours !== undefined));
  const needsPermission = type?.isSideEffect === true;
  let contact = needsContact ? recent.contact() : null;
  let permission = needsPermission ? recent.permission() : null;
  const [readsContact, readsPermission] = [contact === undefined, permission === undefined];
  if (readsContact || readsPermission) {
    const [contacts, permissions] = await database.batch([
      contactsByIdsStatement(context, readsContact ? [origin.contactId!] : []),
      ...(readsPermission ? [runPermissionStatement(database, organization.id, origin.id)] : []),
    ]);
    if (readsContact) recent.setContact((contact = contacts[0] ? contactFromRow(contacts[0]) : null));
    if (readsPermission) recent.setPermission((permission = permissions![0] ?? null));
  }
  return {
    scope: buildRunScope(context, origin, progress, now, contact ? toContactRecord(contact) : null),
    isPaused: permission ? permission.status !== 'active' && !origin.isTest : false,
    isOver: permission ? permission.completed_at !== null : false,
  };
}

interface StepContextRun {
  origin: RunOrigin;
  hasQuietHours: boolean;
  recent: RecentFacts;
}

/** The scope of a run's templates and conditions. `now` in epoch ms. */
export function buildRunScope(context: Context, origin: RunOrigin, progress: Progress, now: number, contact: ContactRecord | null): Scope {
  const run = {
    id: origin.id,
    automation_workflow_id: origin.workflowId,
    workflow_name: origin.workflowName,
    workflow_version: origin.workflowVersion,
    contact_id: origin.contactId,
    entry_key: origin.entryKey,
    is_test: origin.isTest,
    created_at: toTimestamp(origin.createdAt),
  };
  const roots = { ...buildCommonRoots(context, origin, contact, now), steps: progress.outputs, run };
  return buildScope(roots, { ...origin.initialContext, ...progress.assigned });
}

const referencesContact = (node: GraphNode, type: NodeType | undefined): boolean =>
  type?.needsContact === true || JSON.stringify(node.data).includes('contact');
