import type { Context } from '../../../context.ts';
import { readCallResult } from '../../../calls/records/call-result.ts';
import { openSecrets } from '../../../expressions/secrets/secrets.ts';
import { loadChildResult, startChildRun, type ParentRun } from './child-run.ts';
import { subscribeRun } from '../waits/earlier-events.ts';
import { withdrawJourneyCall, startJourneyCall } from './journey-call.ts';
import type { RunDependencies } from '../engine/dependencies.ts';
import type { LoadedRun } from '../engine/run-row.ts';
import { editContact } from '../../../contacts/contacts/update-contact.ts';
import { changeMemberships } from '../../../contacts/lists/members.ts';
import { findContacts } from '../../../contacts/contacts/find-contacts.ts';
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
import type { Effects, TextAnswer, TextRequest } from '../../nodes/contract.ts';
import type { OutputFormat } from '../../../providers/language-model/contract.ts';
import { loadPinnedModels } from '../../../language-models/pinned-models.ts';
import { createPurposeModel } from '../../../language-models/purpose-models.ts';
import { validateContext } from '../../../expressions/schemas/context-schema.ts';
import { RecentFacts } from './recent-facts.ts';
import { loadStepContext } from './step-context.ts';

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
