import type { Context } from '../../../context.ts';
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
import type { Effects } from '../../nodes/contract.ts';
import { startChildRun, type ParentRun } from './child-run.ts';
import { startJourneyCall } from './journey-call.ts';
import { completeText } from './complete-text.ts';

/** What a run's side-effect nodes really do. What a journey causes is one level deeper than the run itself. */
export function createRunEffects(context: Context, run: ParentRun): Effects {
  const contactId = () => {
    if (run.contactId === null) throw notFound('Contact of this run');
    return run.contactId;
  };
  /** Of a visit, in tools that other installations of this service, with runs of the same ids, may use as well. */
  const elsewhere = (key: string) => `${context.organization.id}:${run.createdAt}:${toVisitKey(key)}`;
  return {
    async updateContact(_key, change) {
      const contact = await editContact(context, contactId(), change, { depth: childLineage(run) });
      if (!contact) throw notFound('Contact of this run');
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
    completeText: (_key, request) => completeText(context.settings, request),
    searchKnowledge: (search) => searchChunks(context, search),
    startRun: (key, request) => startChildRun(context, run, toVisitKey(key), request),
    startCall: (item, request) => startJourneyCall(context, run, item, request),
    sendMessage: (key, message) =>
      sendMessage(context, { ...message, sendKey: `step:${key}`, contactId: run.contactId, automationRunId: run.id }),
    postToChannel: (_key, message) => postMessage(context, message),
    createIssue: (key, issue) => createIssue(context, { ...issue, key: elsewhere(key) }),
    createEvent: (key, event) => createEvent(context, { ...event, key: elsewhere(key) }),
    appendRow: (_key, row) => appendRow(context, row),
  };
}

/** A key without its attempt: what happens once a visit, however often the step is tried. */
const toVisitKey = (key: string): string => key.slice(0, key.lastIndexOf(':'));
