import type { PostCallContext } from './post-call-context.ts';
import { notifyRunOrRecordFailure } from '../../src/automation-workflows/runs/lifecycle/notify-run.ts';
import { withCallSlots } from '../../src/calls/rpc.ts';
import { toTranscript } from '../../src/voice-agents/conversation/transcript.ts';
import { parseAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import type { Statement } from '../../src/database/client.ts';
import { insertCallWords, toCallWords } from '../../src/calls/listing/call-words.ts';
import { erasedName } from '../../src/calls/records/erase-calls.ts';
import { selectHasWebhookEndpoint } from '../../src/webhook-endpoints/has-endpoint.ts';
import { publish } from '../../src/outbox/published-events.ts';
import { completeAgentRun, findAgentRun, type RunCompletion } from '../../src/calls/records/store.ts';
import { findKnowledgeQuestions, insertUnansweredQuestions } from '../../src/calls/post-call/knowledge-questions.ts';
import { publishCallCompleted, toRunCompletion, withQuestions } from '../../src/calls/post-call/run-completion.ts';
import { writeTalk } from '../../src/calls/records/write-artifacts.ts';
import { sendCallWebhook } from '../../src/calls/post-call/send-webhook.ts';
import { suppressOptOut } from '../../src/calls/post-call/opt-out.ts';
import { callTimers, type CallRecord } from './call-record.ts';
import { listSummarySubjects, postCallSummary } from './summaries.ts';

const maxConclusionTries = 5;
const maxWebhookTries = 5;
const webhookDelaysMs = [5_000, 30_000, 120_000, 600_000];

/**
 * Finalizes an ended call: concludes the conversation, writes its file, completes the row, and informs the receivers within the service. A
 * `followUp` timer is set for each receiver outside, and for each that could not be informed; after them comes `finish`. A timer stands
 * for work that is not done; all work may be repeated. True: all is done, and only `finish` is left, for which there is no timer.
 */
export async function finalizeCall(postCall: PostCallContext): Promise<boolean> {
  const { context, storage, record, store, conversation: live, timers, hasCall } = postCall;
  const { setup } = record;
  if (!(await concludeConversation(postCall))) return false;
  if (setup.mode !== 'textchat') await suppressOptOut(context, setup, live.conversation.state?.conclusion ?? null);
  const events = store.events();
  if (!(await isErased(postCall))) await writeTalkFile(postCall, events);
  const { database, organization } = context;
  const questions = findKnowledgeQuestions(events);
  const statements = [
    ...indexWords(postCall),
    ...(questions.unanswered.length > 0 ? [insertUnansweredQuestions(context, setup.runId, questions.unanswered)] : []),
    completeAgentRun(context, withQuestions(toCurrentCompletion(postCall), questions)),
    selectHasWebhookEndpoint(database, organization.id),
  ];
  const listening = (await database.batch(statements, 'idempotent')).at(-1)!;
  if (listening.length > 0)
    await publish(context, 'webhook_event.recorded', { type: setup.mode === 'textchat' ? 'chat.completed' : 'call.completed' });
  if (!hasCall()) return false;
  const { inside, outside } = listFollowUps(record);
  const left = (await Promise.all(inside.map((subject) => informAtOnce(postCall, subject)))).flat();
  if (!hasCall()) return false;
  const subjects = [...left, ...outside];
  if (subjects.length === 0) return true;
  storage.transactionSync(() => {
    timers.clear(callTimers.finalize);
    for (const subject of subjects) timers.set(callTimers.followUp, context.clock(), subject);
  });
  return false;
}

/** Informs a receiver within the service. Answers the follow-ups that it leaves. */
async function informAtOnce(postCall: PostCallContext, subject: string): Promise<string[]> {
  const { context, record } = postCall;
  try {
    if (subject === 'summary') return await listSummarySubjects(context, record.setup, toCurrentCompletion(postCall));
    await informInside(postCall, subject);
    return [];
  } catch (error) {
    context.log.error('the end of a call is passed on later', error, { run_id: record.setup.runId, to: subject });
    return [subject];
  }
}

async function informInside(postCall: PostCallContext, subject: string): Promise<void> {
  const { context, record } = postCall;
  const { setup } = record;
  if (subject === 'event') await publishCallCompleted(context, setup, toCurrentCompletion(postCall));
  else await notifyRunOrRecordFailure(context, { id: setup.automationRunId!, of: 'call', ended_id: setup.runId });
}

/** Has the call found by its words. A chat is in no list of calls. */
function indexWords({ context, record, store, conversation: live }: PostCallContext): Statement[] {
  const { setup } = record;
  const words = toCallWords(toTranscript(store.messages()), live.conversation.state?.conclusion?.summary ?? null);
  return setup.mode === 'textchat' || words === '' ? [] : [insertCallWords(context, setup.runId, words)];
}

const toFinalVerdict = ({ line: { verdict } }: CallRecord): 'left' | 'corrected' | null =>
  verdict === 'left' || verdict === 'corrected' ? verdict : null;

const toCurrentCompletion = ({ context, record, store, conversation: live }: PostCallContext): RunCompletion =>
  toRunCompletion({
    setup: record.setup,
    line: record.line.end!,
    state: live.conversation.state,
    hasTranscript: toTranscript(store.messages()).length > 0,
    verdict: toFinalVerdict(record),
    model: context.settings.LANGUAGE_MODEL,
  });

/** Has the model conclude the conversation. False: it is tried again later. */
async function concludeConversation({ context, record, conversation: live, timers, hasCall }: PostCallContext): Promise<boolean> {
  const { conversation } = live;
  if (!conversation.state || conversation.state.conclusion) return true;
  conversation.end('hung_up');
  // Words of a machine lead to nothing, in particular not to a suppression of its number.
  if (record.line.end!.outcome === 'voicemail' && record.line.verdict !== 'corrected') return true;
  const tryNumber = record.countTry('conclude');
  const isLastTry = tryNumber >= maxConclusionTries;
  const answer = await conversation.conclude({ giveUp: isLastTry }).catch((error: unknown) => {
    context.log.error('a conversation could not be concluded', error, { run_id: record.setup.runId });
    return { failure: 'provider_failed' };
  });
  if (!('failure' in answer) || isLastTry) return true;
  if (hasCall()) timers.set(callTimers.finalize, context.clock() + 1_000 * 2 ** tryNumber);
  return false;
}

/** Whether the run was erased with its contact. */
const isErased = async ({ context, record }: PostCallContext): Promise<boolean> =>
  (await findAgentRun(context, record.setup.runId))?.name === erasedName;

async function writeTalkFile({ context, record, store, hasCall }: PostCallContext, events = store.events()): Promise<void> {
  const logs = { events, status_callbacks: record.line.end?.statusCallbacks ?? [] };
  await writeTalk(context.bindings.FILES, record.setup, store.messages(), logs);
  if (hasCall()) record.noteLine({ loggedEvents: events.length });
}

/** The receivers of a call's end within the service and outside of it; a chat has none. `summary` finds the tools that get one. */
function listFollowUps({ setup }: CallRecord): { inside: string[]; outside: string[] } {
  if (setup.mode === 'textchat') return { inside: [], outside: [] };
  const outside = parseAgentDefinition(setup.definition).webhooks.map(({ id }) => `webhook:${id}`);
  return { inside: ['event', 'summary', ...(setup.automationRunId === null ? [] : ['journey'])], outside };
}

/** Does the work of one `followUp` timer; `subject` names the receiver. */
export async function runFollowUp(postCall: PostCallContext, subject: string): Promise<void> {
  const { timers, hasCall } = postCall;
  if (subject === 'event' || subject === 'journey') await informInside(postCall, subject);
  else if (subject === 'summary') return scheduleSummaries(postCall);
  else if (subject.startsWith('summary:')) {
    if (!(await postCallSummary(postCall, subject, toCurrentCompletion(postCall)))) return;
  } else if (!(await sendWebhook(postCall, subject))) return;
  if (!hasCall()) return;
  timers.clear(callTimers.followUp, subject);
  finishWhenDone(postCall);
}

/** Sets a timer for each tool that gets a summary, so that no tool waits for another. */
async function scheduleSummaries(postCall: PostCallContext): Promise<void> {
  const { context, storage, record, timers, hasCall } = postCall;
  const subjects = await listSummarySubjects(context, record.setup, toCurrentCompletion(postCall));
  if (!hasCall()) return;
  storage.transactionSync(() => {
    timers.clear(callTimers.followUp, 'summary');
    for (const subject of subjects) timers.set(callTimers.followUp, context.clock(), subject);
    finishWhenDone(postCall);
  });
}

/** Sends a webhook of the agent. False: it is sent again later. */
async function sendWebhook(postCall: PostCallContext, subject: string): Promise<boolean> {
  const { context, record, store, timers, hasCall } = postCall;
  const nodeId = subject.slice('webhook:'.length);
  const node = parseAgentDefinition(record.setup.definition).webhooks.find(({ id }) => id === nodeId)!;
  const tryNumber = record.countTry(subject);
  if (tryNumber > maxWebhookTries) {
    const problem = 'The service stopped during the last try, and nobody can say whether it arrived';
    store.log('webhook_failed', { webhook_node_id: nodeId, problem, will_be_repeated: false }, context.clock());
    return true;
  }
  const {
    isDelivered,
    isRetryable,
    logPayload: payload,
  } = await sendCallWebhook(context, record.setup, toCurrentCompletion(postCall), node, tryNumber);
  if (!hasCall()) return true;
  const willRetry = isRetryable && tryNumber < maxWebhookTries;
  const type = isDelivered ? 'webhook_sent' : 'webhook_failed';
  store.log(type, { webhook_node_id: nodeId, try: tryNumber, ...payload, will_be_repeated: willRetry }, context.clock());
  if (willRetry) timers.set(callTimers.followUp, context.clock() + webhookDelaysMs[tryNumber - 1]!, subject);
  return !willRetry;
}

function finishWhenDone({ context, record, timers }: PostCallContext): void {
  if (!record.hasTimer(callTimers.finalize) && !record.hasTimer(callTimers.followUp)) timers.ensure(callTimers.finish, context.clock());
}

/** Finishes the work after a call: completes the log, and has the call slots stop watching the call. */
export async function finishPostCall(postCall: PostCallContext): Promise<void> {
  const { context, record, store } = postCall;
  const { setup } = record;
  if (store.countEvents() !== record.line.loggedEvents && !(await isErased(postCall))) await writeTalkFile(postCall);
  if (setup.mode === 'textchat') return;
  await withCallSlots(context.bindings, setup.organizationId, (slots) => slots.markFinalized([setup.attemptKey]));
}
