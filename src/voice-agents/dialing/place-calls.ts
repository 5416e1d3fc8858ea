import type { Context } from '../../accounts/context.ts';
import { jsonChunks } from '../../contacts/json-chunks.ts';
import type { PlacingResult } from './attempt/after-placing.ts';
import { carrierOf, type Carrier } from '../telephony-configs/carrier-of.ts';
import { conversationLimits } from './conversation-limits.ts';
import { callbackUrl } from './callback-urls.ts';
import type { BegunCall, Placing, ReturnReason } from './contract.ts';
import { callFacts, insertCallRuns, type CallFacts, type NewCallRun } from './run-rows.ts';
import { callSlots } from './slots.ts';

/** Placing took longer than this: whoever asked for the calls may have changed their mind. */
const hesitateAfterMs = 500;
const ringSeconds = 30;
/** Results are told together with what else comes in within this time. */
const gatherMs = 20;

/**
 * Has the carrier place attempts that hold a call slot. Each is given to one caller once, ever: whoever dies between that and the carrier's
 * answer leaves an attempt that the call slots settle by asking the carrier, never by dialling again.
 */
export async function placeCalls(context: Context, keys: string[]): Promise<void> {
  const { organization, bindings, clock } = context;
  const begun = await callSlots(bindings, organization.id, (slots) => slots.begin(keys));
  if (!begun.length) return;
  const begunAt = clock();
  const prepared = await prepare(context, begun);
  const late = clock() - begunAt > hesitateAfterMs;
  const wanted = late
    ? new Set(await callSlots(bindings, organization.id, (slots) => slots.stillWanted(begun.map(({ key }) => key))))
    : null;
  const results = new Results(context);
  await Promise.all(
    prepared.map(async ({ call, ready, refusal, isOver }) => {
      const runId = ready?.runId ?? null;
      if (refusal) return results.add({ key: call.key, runId, ...refusal });
      if (isOver) return results.add({ key: call.key, runId, result: { unasked: 'its run has ended', isFinal: true } });
      if (!ready || wanted?.has(call.key) === false)
        return results.add({ key: call.key, runId, result: { unasked: 'it could not be dialled in time' } });
      results.add({ key: call.key, runId: ready.runId, result: await place(context, call, ready) });
    }),
  );
  await results.done();
}

interface Ready {
  runId: number;
  maximumSeconds: number;
  isRecorded: boolean;
}

interface Prepared {
  call: BegunCall;
  ready: Ready | null;
  refusal: { refused: ReturnReason; detail: string } | null;
  /** Somebody has completed its run meanwhile. */
  isOver: boolean;
}

/** Writes the rows of the calls and learns, at this moment, which of them must not be dialled. Nothing is ready when the database fails. */
async function prepare(context: Context, calls: BegunCall[]): Promise<Prepared[]> {
  const { database, organization, clock, log } = context;
  const now = clock();
  const asked = calls.map(({ key, agentId, phone, contactId, owner }) => ({
    attempt_key: key,
    agent_id: agentId,
    phone,
    contact_id: contactId,
    automation_run_id: owner.kind === 'journey' ? owner.id : null,
  }));
  try {
    const inserts = jsonChunks(calls.map(runOf)).map((chunk) => insertCallRuns(database, organization.id, chunk, now));
    const answers = await database.batch([...inserts, callFacts(database, organization.id, JSON.stringify(asked), now)]);
    const facts = new Map((answers.at(-1) as unknown as CallFacts[]).map((fact) => [fact.attempt_key, fact]));
    return calls.map((call) => judge(call, facts.get(call.key)));
  } catch (error) {
    log.error('calls could not be prepared', error, { calls: calls.length });
    return calls.map((call) => ({ call, ready: null, refusal: null, isOver: false }));
  }
}

const runOf = (call: BegunCall): NewCallRun => ({
  attempt_key: call.key,
  agent_id: call.agentId,
  name: call.name,
  phone: call.phone,
  own_number: call.ownNumber,
  mode: call.provider,
  call_type: 'outbound',
  contact_id: call.contactId,
  campaign_id: call.owner.kind === 'campaign' ? call.owner.id : null,
  automation_run_id: call.owner.kind === 'journey' ? call.owner.id : null,
  initial_context: call.initialContext,
});

function judge(call: BegunCall, facts: CallFacts | undefined): Prepared {
  const refuse = (refused: ReturnReason, detail: string): Prepared => ({
    call,
    ready: readyOf(facts),
    refusal: { refused, detail },
    isOver: false,
  });
  if (facts?.suppressed != null) return refuse('suppressed', `${call.phone} must not be called (${facts.suppressed})`);
  if (facts?.contact_gone) return refuse('contact_deleted', 'the contact was deleted');
  if (facts?.journey_halted) return refuse('withdrawn', 'the run that asked for it was stopped, or its journey is paused');
  if (facts && facts.agent_status !== 'active')
    return refuse('agent_archived', 'the voice agent is archived and takes no calls; restore it and resume');
  return { call, ready: readyOf(facts), refusal: null, isOver: facts?.is_completed === 1 };
}

function readyOf(facts: CallFacts | undefined): Ready | null {
  if (facts?.run_id == null) return null;
  return { runId: facts.run_id, ...conversationLimits(facts.configurations) };
}

/** Nothing here throws: what is not known is `unknown`, and is looked up. */
async function place(context: Context, call: BegunCall, { runId, maximumSeconds, isRecorded }: Ready): Promise<PlacingResult> {
  const { organization } = context;
  const carrier = await carrierFor(context, call);
  if (!carrier) return { unasked: 'its telephony configuration was deleted' };
  const address = { organizationId: organization.id, configId: carrier.id, runId, key: call.key };
  const url = (purpose: Parameters<typeof callbackUrl>[2]) => callbackUrl(carrier, address, purpose);
  return carrier.telephony.place({
    attemptKey: call.key,
    to: call.phone,
    from: call.ownNumber,
    urls: { status: url('status'), answer: url('answer'), machine: url('machine'), ...(isRecorded && { recording: url('recording') }) },
    machineDetection: call.machineDetection ? 'sync' : 'off',
    ringSeconds,
    maximumSeconds,
  });
}

async function carrierFor(context: Context, call: BegunCall): Promise<Carrier | null> {
  try {
    return await carrierOf(context, call.configId);
  } catch (error) {
    context.log.error('a telephony configuration could not be read', error, { config_id: call.configId });
    return null;
  }
}

/** Tells the call slots what became of attempts, several at a time. What it cannot tell is settled by their own looking. */
class Results {
  readonly #context: Context;
  #waiting: Placing[] = [];
  #sending: Promise<void> | null = null;

  constructor(context: Context) {
    this.#context = context;
  }

  add(placing: Placing): void {
    this.#waiting.push(placing);
    this.#sending ??= this.#send();
  }

  async done(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #send(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, gatherMs));
    const told = this.#waiting.splice(0);
    const { bindings, organization, log } = this.#context;
    await callSlots(bindings, organization.id, (slots) => slots.placed(told)).catch((error: unknown) =>
      log.error('what became of calls could not be told', error, { keys: told.map(({ key }) => key) }),
    );
    this.#sending = this.#waiting.length ? this.#send() : null;
  }
}
