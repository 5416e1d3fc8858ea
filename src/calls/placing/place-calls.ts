import type { Context } from '../../context.ts';
import { platformErrorKind } from '../../library/platform/platform-errors.ts';
import { jsonChunks } from '../../database/json-chunks.ts';
import { type AgentReadiness, checkAgentReadiness } from '../../voice-agents/agents/soundness.ts';
import type { PlacingResult } from '../attempt/outcomes.ts';
import { type Carrier, loadCarrier } from '../../telephony-configs/load-carrier.ts';
import { buildCallbackUrl } from '../carrier/callback-urls.ts';
import type { BegunCall, PlacingReport, ReturnReason } from '../contract.ts';
import {
  insertCallRuns,
  type NewCallRun,
  type PreDialRow,
  type RunDefinitionRow,
  selectPreDialRows,
  selectRunDefinitions,
} from './store.ts';
import { withCallSlots } from '../rpc.ts';
import { parseConfigurations } from '../../voice-agents/agents/configurations.ts';

/** Whoever asked for a call is asked whether it is still wanted when the last word of it is older than this. */
const wantedTtlMs = 250;
const ringSeconds = 30;
/** Results are told together with what else comes in within this time. */
const reportBatchMs = 20;

/**
 * Has the carrier place attempts that hold a call slot. Each is given to one caller once, ever: whoever dies between that and the carrier's
 * answer leaves an attempt that the call slots settle by asking the carrier, never by dialling again. One whose turn comes late, as when the
 * carrier is slow, is given back unasked: the call slots may begin to doubt that it was asked.
 */
export async function placeCalls(context: Context, keys: string[]): Promise<void> {
  const { organization, bindings, clock, settings } = context;
  const begunAt = clock();
  const begun = await withCallSlots(bindings, organization.id, (slots) => slots.beginCalls(keys));
  if (!begun.length) return;
  const wanted = new WantedCalls(context, begun);
  const prepared = await prepareCalls(context, begun);
  const results = new PlacingReporter(context);
  const worker = async () => {
    for (let next = prepared.shift(); next; next = prepared.shift()) {
      const { call, ready } = next;
      const told = { key: call.key, submission: call.submission, runId: ready?.runId ?? null };
      if (next.refusal) results.add({ ...told, ...next.refusal });
      else if (next.isRunCompleted) results.add({ ...told, refused: 'withdrawn', detail: 'its run has ended' });
      else if (!ready) results.add({ ...told, result: { unasked: 'it could not be prepared' } });
      else if (clock() - begunAt > settings.CALL_ASK_WITHIN_SECONDS * 1000)
        results.add({ ...told, result: { unasked: 'its turn came too late' } });
      else if (call.notAfter !== null && call.notAfter <= clock())
        results.add({ ...told, refused: 'window_closed', detail: 'the calling window closed before the call was dialled' });
      else if (!(await wanted.has(call.key))) results.add({ ...told, result: { unasked: 'it was taken back' } });
      else results.add({ ...told, result: await placeCall(context, call, ready), detectsMachines: ready.detectsMachines });
    }
  };
  await Promise.all(Array.from({ length: settings.CALLS_AT_ONCE }, worker));
  await results.done();
}

interface ReadyCall {
  runId: number;
  maximumSeconds: number;
  isRecorded: boolean;
  carrier: Carrier;
  detectsMachines: boolean;
}

interface PreparedCall {
  call: BegunCall;
  ready: ReadyCall | null;
  refusal: { refused: ReturnReason; detail: string } | null;
  /** Somebody has completed its run meanwhile. */
  isRunCompleted: boolean;
}

/** Writes the rows of the calls and learns, at this moment, which of them must not be dialled. Nothing is ready when the database fails. */
async function prepareCalls(context: Context, calls: BegunCall[]): Promise<PreparedCall[]> {
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
    const carriers = await loadCarriers(context, calls);
    const rows = calls.flatMap((call) => toNewCallRun(call, carriers.get(call.configId)) ?? []);
    const inserts = jsonChunks(rows).map((chunk) => insertCallRuns(database, organization.id, chunk, now));
    const answers = await database.batch(
      [
        ...inserts,
        selectPreDialRows(database, organization.id, JSON.stringify(asked), now),
        selectRunDefinitions(database, organization.id, JSON.stringify(calls.map(({ key }) => key))),
      ],
      'voice_agent_run.attempt_key',
    );
    const [found, definitions] = answers.slice(-2) as [PreDialRow[], RunDefinitionRow[]];
    const setup = new Map(found.map((fact) => [fact.attempt_key, fact]));
    const agents = await loadAgentReadiness(context, definitions);
    return calls.map((call) => {
      const known = setup.get(call.key);
      return checkCall(call, known, carriers.get(call.configId), agents.get(known?.definition_id ?? 0));
    });
  } catch (error) {
    log.error('calls could not be prepared', error, { calls: calls.length });
    return calls.map((call) => ({ call, ready: null, refusal: null, isRunCompleted: false }));
  }
}

/** Read before any call is placed, so that nothing stands between the last look and the carrier. */
async function loadCarriers(context: Context, calls: BegunCall[]): Promise<Map<number, Carrier>> {
  const carriers = new Map<number, Carrier>();
  for (const configId of new Set(calls.map((call) => call.configId))) {
    // One whose credentials cannot be read holds up the calls of no other.
    const carrier = await loadCarrier(context, configId).catch((error: unknown) => {
      if (platformErrorKind(error) !== null) throw error;
      context.log.error('a telephony configuration cannot be read', error, { telephony_config_id: configId });
      return null;
    });
    if (carrier) carriers.set(configId, carrier);
  }
  return carriers;
}

const toNewCallRun = (call: BegunCall, carrier: Carrier | undefined): NewCallRun | undefined =>
  carrier && {
    attempt_key: call.key,
    agent_id: call.agentId,
    name: call.name,
    phone: call.phone,
    own_number: call.ownNumber,
    mode: carrier.provider,
    call_type: 'outbound',
    contact_id: call.contactId,
    campaign_id: call.owner.kind === 'campaign' ? call.owner.id : null,
    automation_run_id: call.owner.kind === 'journey' ? call.owner.id : null,
    initial_context: call.initialContext,
  };

function checkCall(
  call: BegunCall,
  setup: PreDialRow | undefined,
  carrier: Carrier | undefined,
  agent: AgentReadiness | undefined,
): PreparedCall {
  const ready = toReadyCall(call, setup, carrier, agent);
  const refuse = (refused: ReturnReason, detail: string): PreparedCall => ({
    call,
    ready,
    refusal: { refused, detail },
    isRunCompleted: false,
  });
  if (setup?.suppressed != null) return refuse('suppressed', `${call.phone} must not be called (${setup.suppressed})`);
  if (setup?.contact_gone) return refuse('contact_deleted', 'the contact was deleted');
  if (setup?.journey_halted) return refuse('withdrawn', 'the run that asked for it was stopped, or its journey is paused');
  if (setup && setup.agent_status !== 'active')
    return refuse('agent_archived', 'the voice agent is archived and takes no calls; restore it and resume');
  if (agent?.unsound) return refuse('agent_unsound', agent.unsound);
  return { call, ready, refusal: null, isRunCompleted: setup?.is_completed === 1 };
}

function toReadyCall(
  { machineDetection }: BegunCall,
  setup: PreDialRow | undefined,
  carrier: Carrier | undefined,
  agent: AgentReadiness | undefined,
): ReadyCall | null {
  if (setup?.run_id == null || !carrier) return null;
  const detectsMachines = agent?.detectVoicemail ?? machineDetection;
  return { runId: setup.run_id, carrier, detectsMachines, ...parseCallLimits(setup.configurations) };
}

/** By the id of the definition. */
async function loadAgentReadiness(context: Context, definitions: RunDefinitionRow[]): Promise<Map<number, AgentReadiness>> {
  const setup = definitions.map(async ({ id, agent_id, definition }): Promise<[number, AgentReadiness]> => {
    try {
      return [id, await checkAgentReadiness(context, JSON.parse(definition) as Record<string, unknown>, agent_id)];
    } catch (error) {
      if (platformErrorKind(error) !== null) throw error;
      context.log.error('an agent cannot be read for its calls', error, { agent_id });
      return [id, { detectVoicemail: null, unsound: `its definition cannot be read: ${(error as Error).message}` }];
    }
  });
  return new Map(await Promise.all(setup));
}

/** Nothing here throws: what is not known is `unknown`, and is looked up. */
function placeCall(
  { organization }: Context,
  call: BegunCall,
  { runId, carrier, maximumSeconds, isRecorded, detectsMachines }: ReadyCall,
): Promise<PlacingResult> {
  const address = { organizationId: organization.id, configId: carrier.id, runId, key: call.key };
  const url = (purpose: Parameters<typeof buildCallbackUrl>[2]) => buildCallbackUrl(carrier, address, purpose);
  return carrier.telephony.place({
    attemptKey: call.key,
    to: call.phone,
    from: call.ownNumber,
    urls: { status: url('status'), answer: url('answer'), machine: url('machine'), ...(isRecorded && { recording: url('recording') }) },
    detectsMachines,
    ringSeconds,
    maxSeconds: maximumSeconds,
  });
}

/** Whether calls are still wanted, by an answer that is fresh when they are dialled: nothing is dialled long after a pause. */
class WantedCalls {
  readonly #context: Context;
  readonly #keys: string[];
  #wanted: Set<string>;
  #refreshedAt: number;
  #refreshing: Promise<void> | null = null;

  constructor(context: Context, begun: BegunCall[]) {
    this.#context = context;
    this.#keys = begun.map(({ key }) => key);
    this.#wanted = new Set(this.#keys);
    this.#refreshedAt = context.clock();
  }

  async has(key: string): Promise<boolean> {
    if (this.#context.clock() - this.#refreshedAt > wantedTtlMs) await (this.#refreshing ??= this.#refresh());
    return this.#wanted.has(key);
  }

  async #refresh(): Promise<void> {
    const { bindings, organization, clock, log } = this.#context;
    const askedAt = clock();
    try {
      this.#wanted = new Set(await withCallSlots(bindings, organization.id, (slots) => slots.filterWanted(this.#keys)));
      this.#refreshedAt = askedAt;
    } catch (error) {
      // Nobody is dialled on a guess.
      log.error('the call slots cannot be asked whether calls are still wanted', error);
      this.#wanted = new Set();
    } finally {
      this.#refreshing = null;
    }
  }
}

/** Tells the call slots what became of attempts, several at a time. What it cannot tell is settled by their own looking. */
class PlacingReporter {
  readonly #context: Context;
  #waiting: PlacingReport[] = [];
  #sending: Promise<void> | null = null;

  constructor(context: Context) {
    this.#context = context;
  }

  add(placing: PlacingReport): void {
    this.#waiting.push(placing);
    this.#sending ??= this.#send();
  }

  async done(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #send(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, reportBatchMs));
    const results = this.#waiting.splice(0);
    const { bindings, organization, log } = this.#context;
    await withCallSlots(bindings, organization.id, (slots) => slots.recordPlacings(results)).catch((error: unknown) =>
      log.error('what became of calls could not be told', error, { keys: results.map(({ key }) => key) }),
    );
    this.#sending = this.#waiting.length ? this.#send() : null;
  }
}

/** For the goodbye, and for what the carrier needs until the agent is on the line. */
const connectMarginSeconds = 60;

/** What of an agent's `workflow_configurations` (JSON text) a call has to know when it is placed. */
function parseCallLimits(configurations: string | null): { maximumSeconds: number; isRecorded: boolean } {
  const { max_call_duration, recording_enabled } = parseConfigurations(configurations === null ? {} : JSON.parse(configurations));
  return { maximumSeconds: max_call_duration + connectMarginSeconds, isRecorded: recording_enabled };
}
