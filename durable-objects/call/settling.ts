import type { Context } from '../../src/accounts/context.ts';
import { tellRunOrNote } from '../../src/automation-workflows/runs/tell-run.ts';
import { callSlots } from '../../src/voice-agents/dialing/slots.ts';
import { transcriptOf } from '../../src/voice-agents/conversation/transcript.ts';
import { parseAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import { erasedName } from '../../src/voice-agents/runs/erase-store.ts';
import { findRun, settleRun, type Settlement } from '../../src/voice-agents/runs/run-store.ts';
import { announceCall } from '../../src/voice-agents/settle/announce-call.ts';
import { writeLogs, writeTranscript } from '../../src/voice-agents/settle/call-files.ts';
import { sendCallWebhook } from '../../src/voice-agents/settle/call-webhook.ts';
import { keepOptOut } from '../../src/voice-agents/settle/opt-out.ts';
import { settlementOf } from '../../src/voice-agents/settle/settled-call.ts';
import type { Timers } from '../shared/timers.ts';
import type { CallRecord } from './call-record.ts';
import type { StoredConversation } from './stored-conversation.ts';
import { postCallSummary, summarySubjects } from './summaries.ts';
import type { Talk } from './talk.ts';

const mostConclusions = 5;
const mostWebhookTries = 5;
const webhookDelaysMs = [5_000, 30_000, 120_000, 600_000];

export interface Settling {
  context: Context;
  storage: DurableObjectStorage;
  record: CallRecord;
  store: StoredConversation;
  talk: Talk;
  timers: Timers;
  /** Whether the object still has the call: another one may have come to the end of this during an await. */
  isThere(): boolean;
}

/**
 * What an ended call leads to. Timers: `settle` (what it led to, files, the row), then one `follow` for each who has to hear of it (`summary`
 * finds out which tools do), then `leave`. A timer that is there is work that is not done; every piece of it may be done twice.
 */
export async function settle(settling: Settling): Promise<void> {
  const { context, storage, record, store, talk, timers, isThere } = settling;
  const { facts } = record;
  if (!(await conclude(settling))) return;
  if (facts.mode !== 'textchat') await keepOptOut(context, facts, talk.conversation.state?.conclusion ?? null);
  if (!(await isErased(settling))) {
    await writeTranscript(context.bindings.FILES, facts, store.messages());
    await writeCallLogs(settling);
  }
  await context.database.batch([settleRun(context, settlementFrom(settling))], 'same values');
  if (!isThere()) return;
  storage.transactionSync(() => {
    timers.clear('settle');
    for (const subject of followers(record)) timers.set('follow', context.clock(), subject);
    leaveWhenDone(settling);
  });
}

const settlementFrom = ({ context, record, store, talk }: Settling): Settlement =>
  settlementOf({
    facts: record.facts,
    line: record.line.end!,
    state: talk.conversation.state,
    hasTranscript: transcriptOf(store.messages()).length > 0,
    model: context.settings.LANGUAGE_MODEL,
  });

/** False: it is tried again later. */
async function conclude({ context, record, talk, timers, isThere }: Settling): Promise<boolean> {
  const { conversation } = talk;
  if (!conversation.state || conversation.state.conclusion) return true;
  conversation.end('hung_up');
  // What a machine says leads to nothing, least of all to a number that is not called any more.
  if (record.line.end!.outcome === 'voicemail') return true;
  const number = record.tryOnce('conclude');
  const giveUp = number >= mostConclusions;
  const answer = await conversation.conclude({ giveUp }).catch((error: unknown) => {
    context.log.error('what a talk led to could not be found out', error, { run_id: record.facts.runId });
    return { failure: 'provider_failed' };
  });
  if (!('failure' in answer) || giveUp) return true;
  if (isThere()) timers.set('settle', context.clock() + 1_000 * 2 ** number);
  return false;
}

/** Its contact was deleted, and what was said with it. */
const isErased = async ({ context, record }: Settling): Promise<boolean> =>
  (await findRun(context, record.facts.runId))?.name === erasedName;

async function writeCallLogs({ context, record, store, isThere }: Settling): Promise<void> {
  const events = store.events();
  await writeLogs(context.bindings.FILES, record.facts, { events, status_callbacks: record.line.end?.statusCallbacks ?? [] });
  if (isThere()) record.change({ loggedEvents: events.length });
}

/** Of a chat nobody hears. */
function followers({ facts }: CallRecord): string[] {
  if (facts.mode === 'textchat') return [];
  const webhooks = parseAgentDefinition(facts.definition).webhooks.map(({ id }) => `webhook:${id}`);
  return ['event', 'summary', ...(facts.automationRunId === null ? [] : ['journey']), ...webhooks];
}

export async function follow(settling: Settling, subject: string): Promise<void> {
  const { context, record, timers, isThere } = settling;
  const { facts } = record;
  if (subject === 'event') await announceCall(context, facts, settlementFrom(settling));
  else if (subject === 'journey') await tellRunOrNote(context, { id: facts.automationRunId!, of: 'call', ended_id: facts.runId });
  else if (subject === 'summary') return followSummaries(settling);
  else if (subject.startsWith('summary:')) {
    if (!(await postCallSummary(settling, subject, settlementFrom(settling)))) return;
  } else if (!(await sendWebhook(settling, subject))) return;
  if (!isThere()) return;
  timers.clear('follow', subject);
  leaveWhenDone(settling);
}

/** One timer for each tool that is told, so that none waits for another. */
async function followSummaries(settling: Settling): Promise<void> {
  const { context, storage, record, timers, isThere } = settling;
  const subjects = await summarySubjects(context, record.facts, settlementFrom(settling));
  if (!isThere()) return;
  storage.transactionSync(() => {
    timers.clear('follow', 'summary');
    for (const subject of subjects) timers.set('follow', context.clock(), subject);
    leaveWhenDone(settling);
  });
}

/** False: it is sent again later. */
async function sendWebhook(settling: Settling, subject: string): Promise<boolean> {
  const { context, record, store, timers, isThere } = settling;
  const nodeId = subject.slice('webhook:'.length);
  const node = parseAgentDefinition(record.facts.definition).webhooks.find(({ id }) => id === nodeId)!;
  const number = record.tryOnce(subject);
  if (number > mostWebhookTries) {
    const problem = 'The service stopped during the last try, and nobody can say whether it arrived';
    store.log('webhook_failed', { webhook_node_id: nodeId, problem, will_be_repeated: false }, context.clock());
    return true;
  }
  const { isDelivered, again, payload } = await sendCallWebhook(context, record.facts, settlementFrom(settling), node, number);
  if (!isThere()) return true;
  const repeats = again && number < mostWebhookTries;
  const type = isDelivered ? 'webhook_sent' : 'webhook_failed';
  store.log(type, { webhook_node_id: nodeId, try: number, ...payload, will_be_repeated: repeats }, context.clock());
  if (repeats) timers.set('follow', context.clock() + webhookDelaysMs[number - 1]!, subject);
  return !repeats;
}

function leaveWhenDone({ context, record, timers }: Settling): void {
  if (!record.hasTimer('settle') && !record.hasTimer('follow')) timers.ensure('leave', context.clock());
}

/** The last that is to be done: the log is whole, and the call slots need not watch any more. */
export async function leave(settling: Settling): Promise<void> {
  const { context, record, store } = settling;
  const { facts } = record;
  if (store.countEvents() !== record.line.loggedEvents && !(await isErased(settling))) await writeCallLogs(settling);
  if (facts.mode === 'textchat') return;
  await callSlots(context.bindings, facts.organizationId, (slots) => slots.settled([facts.attemptKey]));
}
