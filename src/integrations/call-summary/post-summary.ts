import type { Context } from '../../context.ts';
import { fullName } from '../../contacts/contacts/contact.ts';
import { findContacts } from '../../contacts/contacts/find-contacts.ts';
import { basePath } from '../../http/public-url.ts';
import { createIssue } from '../actions/create-issue.ts';
import { actionFailure, isFailure, type ActionFailure } from '../actions/run-action.ts';
import { escapeMrkdwn, postMessage } from '../actions/post-message.ts';
import type { Integration } from '../contract.ts';
import { changeIntegration, findIntegration } from '../store.ts';
import type { EndedCall } from './ended-call.ts';
import { summaryText, type SummaryText } from './summary-text.ts';

/** `isLookedUp`: the next try searches for the result of this one before it posts. */
export type SummaryOutcome =
  | { kind: 'posted'; to: Record<string, string> }
  /** The integration or the contact is gone. */
  | { kind: 'dropped'; why: string }
  | { kind: 'failed'; failure: ActionFailure; isLookedUp: boolean };

interface SummaryRequest {
  integrationId: number;
  call: EndedCall;
  /** An earlier try may have posted the summary. */
  mayExist: boolean;
}

/** Posts a call's summary to the channel or project of an integration. Never throws for a failure of the tool. */
export async function postSummary(context: Context, { integrationId, call, mayExist }: SummaryRequest): Promise<SummaryOutcome> {
  const integration = await findIntegration(context.database, context.organization.id, integrationId);
  if (integration === null) return { kind: 'dropped', why: 'the integration was disconnected' };
  const name = await contactName(context, call);
  if (name === null) return { kind: 'dropped', why: 'the contact was deleted' };
  const isLookedUp = integration.provider === 'tracker';
  // Nobody can say whether an interrupted message was posted.
  if (mayExist && !isLookedUp) return { kind: 'failed', failure: interruptedFailure, isLookedUp };
  const text = summaryText(call, name);
  const outcome = isLookedUp ? await createAsIssue(context, call, text, mayExist) : await postAsMessage(context, call, text);
  if (isFailure(outcome)) return { kind: 'failed', failure: outcome, isLookedUp };
  await clearError(context, integration);
  return { kind: 'posted', to: outcome };
}

const interruptedFailure: ActionFailure = {
  ...actionFailure(
    'unknown',
    'The service stopped while the summary was being posted, and nobody can say whether it was, so it was not posted again',
  ),
  outcomeUnknown: true,
};

/** The contact's name; empty: no name or no contact; null: the contact was deleted. */
async function contactName(context: Context, { contactId }: EndedCall): Promise<string | null> {
  if (contactId === null) return '';
  const contact = (await findContacts(context, [contactId])).get(contactId);
  return contact === undefined ? null : fullName(contact);
}

async function postAsMessage(context: Context, call: EndedCall, { title, facts, talk }: SummaryText) {
  const run = `Run ${call.runId}`;
  const url = runUrl(context, call);
  const text = [
    `*${escapeMrkdwn(title)}*`,
    escapeMrkdwn(facts),
    ...(talk === null ? [] : [escapeMrkdwn(talk)]),
    url === null ? run : `<${url}|${run}>`,
  ].join('\n');
  const outcome = await postMessage(context, { channel: null, text });
  return isFailure(outcome) ? outcome : { channel: outcome.channel, ts: outcome.ts };
}

async function createAsIssue(context: Context, call: EndedCall, { title, facts, talk }: SummaryText, mayExist: boolean) {
  const description = [...(talk === null ? [] : [talk]), facts, runUrl(context, call) ?? `Run ${call.runId}`].join('\n\n');
  // Other installations of this service, with runs of the same ids, may use the same tracker.
  const key = `call:${context.organization.id}:${call.runId}:${call.endedAt}`;
  const issue = { project: null, issueType: null, summary: title, description, fields: {}, key, mayExist };
  const outcome = await createIssue(context, issue);
  return isFailure(outcome) ? outcome : { issue: outcome.key, url: outcome.url };
}

/** The address of the run in the API; null: PUBLIC_URL is not set. */
const runUrl = ({ settings: { PUBLIC_URL } }: Context, { agentId, runId }: EndedCall): string | null =>
  PUBLIC_URL === '' ? null : `${PUBLIC_URL.replace(/\/$/, '')}${basePath}/workflow/${agentId}/runs/${runId}`;

/** Shows why a summary could not be posted as the integration's `last_error`. */
export async function recordSummaryFailure(context: Context, integrationId: number, reason: string): Promise<void> {
  await logWriteErrors(context, async () => {
    const integration = await findIntegration(context.database, context.organization.id, integrationId);
    if (integration?.isActive) await setError(context, integration, reason);
  });
}

const clearError = (context: Context, integration: Integration): Promise<void> =>
  logWriteErrors(context, async () => {
    if (integration.lastError !== null) await setError(context, integration, null);
  });

const setError = ({ database, clock }: Context, integration: Integration, lastError: string | null) =>
  changeIntegration(database, integration, { lastError }, clock());

/** Logs a failed write: the outcome of the summary is known, and an exception would have it posted again. */
async function logWriteErrors({ log }: Context, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    log.error('what became of a summary could not be written to its integration', error);
  }
}
