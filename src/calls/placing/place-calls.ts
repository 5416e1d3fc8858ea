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
import { isAssignable, toDialled, unassignableDetail } from '../../library/phone/assignable.ts';
import { toOnePersonSpelling } from '../../library/phone/one-person.ts';
import { withCallSlots } from '../rpc.ts';
import { parseConfigurations } from '../../voice-agents/agents/configurations.ts';
import { holdByPolicy } from './hold-by-policy.ts';
import type { PreparedCall, ReadyCall } from './prepared-call.ts';

/** How long the slots' answer that calls are still wanted is trusted. */
const wantedTtlMs = 250;
const ringSeconds = 30;
/** Results that come within this time are reported together. */
const reportBatchMs = 20;

/**
 * Has the carrier place attempts that hold a call slot. Each attempt is handed to one caller once, ever. If the caller dies before the
 * carrier's answer, the call slots look the call up at the carrier and never dial again. An attempt whose turn comes late, such as behind a
 * slow carrier, is given back without asking the carrier, because the call slots may already treat it as asked.
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
      const report = { key: call.key, submission: call.submission, runId: ready?.runId ?? null };
      if (next.refusal) results.add({ ...report, ...next.refusal });
      else if (next.isRunCompleted) results.add({ ...report, refused: 'withdrawn', detail: 'its run has ended' });
      else if (!ready) results.add({ ...report, result: { unasked: 'it could not be prepared' } });
      else if (!(await wanted.has(call.key))) results.add({ ...report, result: { unasked: 'it was taken back' } });
      else {
        // The answer may have taken long. Nothing is awaited between the look at the clock and the request to the carrier.
        const lateness = findLateness(context, call, ready, begunAt);
        if (lateness) results.add({ ...report, ...lateness });
        else results.add({ ...report, result: await placeCall(context, call, ready), detectsMachines: ready.detectsMachines });
      }
    }
  };
  await Promise.all(Array.from({ length: settings.CALLS_AT_ONCE }, worker));
  await results.done();
}

type Lateness = { result: PlacingResult } | { refused: ReturnReason; detail: string };

/** Why a call must not be dialled at this moment any more; null: it may. `begunAt`: when it was begun, epoch ms. */
function findLateness({ clock, settings }: Context, call: BegunCall, { allowedUntil }: ReadyCall, begunAt: number): Lateness | null {
  const now = clock();
  if (now - begunAt > settings.CALL_ASK_WITHIN_SECONDS * 1000) return { result: { unasked: 'its turn came too late' } };
  if (call.notAfter !== null && call.notAfter <= now)
    return { refused: 'window_closed', detail: 'the calling window closed before the call was dialled' };
  if (allowedUntil !== null && allowedUntil <= now)
    return { result: { unasked: 'quiet hours or a day off of the contact policy have begun' } };
  return null;
}

/** Writes the rows of the calls and checks which calls must not be dialled any more. No call is ready when the database fails. */
async function prepareCalls(context: Context, calls: BegunCall[]): Promise<PreparedCall[]> {
  const { database, organization, clock, log } = context;
  const now = clock();
  const checks = calls.map(({ key, agentId, phone, contactId, owner }) => ({
    attempt_key: key,
    agent_id: agentId,
    phone: toOnePersonSpelling(phone),
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
        selectPreDialRows(database, organization.id, JSON.stringify(checks), now),
        selectRunDefinitions(database, organization.id, JSON.stringify(calls.map(({ key }) => key))),
      ],
      'voice_agent_run.attempt_key',
    );
    const [found, definitions] = answers.slice(-2) as [PreDialRow[], RunDefinitionRow[]];
    const rowsByKey = new Map(found.map((row) => [row.attempt_key, row]));
    const agents = await loadAgentVersions(context, definitions);
    const prepared = calls.map((call) => {
      const row = rowsByKey.get(call.key);
      return checkCall(call, row, carriers.get(call.configId), agents.get(row?.definition_id ?? 0));
    });
    const policy = found.find(({ contact_policy: text }) => text !== null)?.contact_policy ?? null;
    return policy === null ? prepared : await holdByPolicy(context, policy, prepared);
  } catch (error) {
    log.error('calls could not be prepared', error, { calls: calls.length });
    return calls.map((call) => ({ call, ready: null, refusal: null, isRunCompleted: false }));
  }
}

/** The carriers by configuration. Read before any call is placed, so that the checks are fresh when the calls are placed. */
async function loadCarriers(context: Context, calls: BegunCall[]): Promise<Map<number, Carrier>> {
  const carriers = new Map<number, Carrier>();
  for (const configId of new Set(calls.map((call) => call.configId))) {
    // A configuration with unreadable credentials holds up the calls of no other.
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
    phone: toOnePersonSpelling(call.phone),
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
  row: PreDialRow | undefined,
  carrier: Carrier | undefined,
  agent: AgentVersion | undefined,
): PreparedCall {
  const ready = toReadyCall(call, row, carrier, agent);
  const refuse = (refused: ReturnReason, detail: string): PreparedCall => ({
    call,
    ready,
    refusal: { refused, detail },
    isRunCompleted: false,
  });
  if (row?.suppressed != null) return refuse('suppressed', `${call.phone} must not be called (${row.suppressed})`);
  if (!isAssignable(call.phone)) return refuse('number_unassignable', unassignableDetail(call.phone));
  if (row?.contact_gone) return refuse('contact_deleted', 'the contact was deleted');
  if (row?.journey_halted) return refuse('withdrawn', 'the run that asked for it was stopped, or its journey is paused');
  if (row && row.agent_status !== 'active')
    return refuse('agent_archived', 'the voice agent is archived and takes no calls; restore it and resume');
  if (agent?.unsound) return refuse('agent_unsound', agent.unsound);
  return { call, ready, refusal: null, isRunCompleted: row?.is_completed === 1 };
}

function toReadyCall(
  { machineDetection }: BegunCall,
  row: PreDialRow | undefined,
  carrier: Carrier | undefined,
  agent: AgentVersion | undefined,
): ReadyCall | null {
  if (row?.run_id == null || !carrier) return null;
  const detectsMachines = agent?.detectVoicemail ?? machineDetection;
  const { maxSeconds, isRecorded, leavesMessage } = parseCallLimits(agent?.configurations ?? null);
  return {
    runId: row.run_id,
    carrier,
    detectsMachines,
    allowedUntil: null,
    maxSeconds: Math.min(maxCallSeconds, maxSeconds + (agent?.transferSeconds ?? 0)),
    isRecorded,
    leavesMessage,
  };
}

/** The version of an agent by which a call is held. `configurations`: JSON text. */
interface AgentVersion extends AgentReadiness {
  configurations: string;
}

/** Whether the agents can talk, and how, by the id of the version. */
async function loadAgentVersions(context: Context, definitions: RunDefinitionRow[]): Promise<Map<number, AgentVersion>> {
  const entries = definitions.map(async ({ id, agent_id, definition, configurations }): Promise<[number, AgentVersion]> => {
    try {
      const readiness = await checkAgentReadiness(context, JSON.parse(definition) as Record<string, unknown>, agent_id);
      return [id, { ...readiness, configurations }];
    } catch (error) {
      if (platformErrorKind(error) !== null) throw error;
      context.log.error('an agent cannot be read for its calls', error, { agent_id });
      const unsound = `its definition cannot be read: ${(error as Error).message}`;
      return [id, { detectVoicemail: null, transferSeconds: 0, unsound, configurations }];
    }
  });
  return new Map(await Promise.all(entries));
}

/** Has the carrier place a call. Never throws: an unknown result is `unknown`, and the call is looked up later. */
function placeCall(
  { organization }: Context,
  call: BegunCall,
  { runId, carrier, maxSeconds, isRecorded, detectsMachines, leavesMessage }: ReadyCall,
): Promise<PlacingResult> {
  const address = { organizationId: organization.id, configId: carrier.id, runId, key: call.key };
  const url = (purpose: Parameters<typeof buildCallbackUrl>[2]) => buildCallbackUrl(carrier, address, purpose);
  return carrier.telephony.place({
    attemptKey: call.key,
    to: toDialled(call.phone) ?? call.phone,
    from: call.ownNumber,
    urls: { status: url('status'), answer: url('answer'), machine: url('machine'), ...(isRecorded && { recording: url('recording') }) },
    detectsMachines,
    awaitsBeep: leavesMessage,
    ringSeconds,
    maxSeconds,
  });
}

/** Knows whether calls are still wanted, by a fresh answer of the call slots, so that no call is dialled long after a pause. */
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
    const requestedAt = clock();
    try {
      this.#wanted = new Set(await withCallSlots(bindings, organization.id, (slots) => slots.filterWanted(this.#keys)));
      this.#refreshedAt = requestedAt;
    } catch (error) {
      // Without an answer no call is dialled.
      log.error('the call slots cannot be asked whether calls are still wanted', error);
      this.#wanted = new Set();
    } finally {
      this.#refreshing = null;
    }
  }
}

/** Reports placings to the call slots, several at a time. The slots find out about lost reports by their own checks. */
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
      log.error('the results of calls could not be reported', error, { keys: results.map(({ key }) => key) }),
    );
    this.#sending = this.#waiting.length ? this.#send() : null;
  }
}

/** The longest call of both carriers: four hours. */
const maxCallSeconds = 14_400;
/** Time for the goodbye, and for connecting the agent. */
const connectMarginSeconds = 60;

/** The limits of a call from the `workflow_configurations` of the version of its agent (JSON text). */
function parseCallLimits(configurations: string | null): { maxSeconds: number; isRecorded: boolean; leavesMessage: boolean } {
  const { max_call_duration, recording_enabled, voicemail_message } = parseConfigurations(
    configurations === null ? {} : JSON.parse(configurations),
  );
  return { maxSeconds: max_call_duration + connectMarginSeconds, isRecorded: recording_enabled, leavesMessage: voicemail_message !== null };
}
