import type { Context } from '../../accounts/context.ts';
import { changeContact } from '../../contacts/change-contact.ts';
import { changeMemberships } from '../../contacts/change-memberships.ts';
import { findContacts } from '../../contacts/find-contacts.ts';
import { emitEvent } from '../../events/accept.ts';
import { appendRow } from '../../integrations/actions/append-row.ts';
import { createEvent } from '../../integrations/actions/create-event.ts';
import { createIssue } from '../../integrations/actions/create-issue.ts';
import { postMessage } from '../../integrations/actions/post-message.ts';
import { searchChunks } from '../../knowledge-base/search.ts';
import { notFound } from '../../library/errors.ts';
import type { Json } from '../../library/json.ts';
import { below } from '../../library/lineage.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { outsideRules } from '../../providers/http/outside-rules.ts';
import { sendOutside } from '../../providers/http/send.ts';
import type { Effects } from '../nodes/contract.ts';
import { startChild, type ParentRun } from './child.ts';
import { startJourneyCall } from './journey-call.ts';
import { completeText } from './complete-text.ts';

/** What a run's side-effect nodes really do. What a journey causes is one level deeper than the run itself. */
export function runEffects(context: Context, run: ParentRun): Effects {
  const contactId = () => {
    if (run.contactId === null) throw notFound('Contact of this run');
    return run.contactId;
  };
  /** Of a visit, in tools that other installations of this service, with runs of the same ids, may use as well. */
  const elsewhere = (key: string) => `${context.organization.id}:${run.createdAt}:${visitOf(key)}`;
  return {
    async updateContact(_key, change) {
      const contact = await changeContact(context, contactId(), change, { depth: below(run) });
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
        key: visitOf(key),
        contactId: contact?.id ?? null,
        phone: contact?.phone ?? null,
        depth: below(run),
      });
      return { event_id: accepted.id };
    },
    httpRequest: (_key, request) => sendOutside(request, outsideRules(context.settings)),
    completeText: (_key, request) => completeText(context.settings, request),
    searchKnowledge: (search) => searchChunks(context, search),
    startRun: (key, request) => startChild(context, run, visitOf(key), request),
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
const visitOf = (key: string): string => key.slice(0, key.lastIndexOf(':'));
