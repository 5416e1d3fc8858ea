import { DateTime } from 'luxon';
import { parseDefinition, Graph } from '../../src/automation-workflows/definitions/definition.ts';
import type { CallRequest, ChildResult, Effects } from '../../src/automation-workflows/nodes/contract.ts';
import type { OutboundResponse } from '../../src/expressions/http-request/request.ts';
import { MemoryJournal } from '../../src/automation-workflows/runs/engine/memory-journal.ts';
import { startProgress, deadlineOf } from '../../src/automation-workflows/runs/engine/progress.ts';
import type { RunDependencies } from '../../src/automation-workflows/runs/engine/dependencies.ts';
import { simulateRun, type SimulatedEvent } from '../../src/automation-workflows/runs/dry-run/simulate-run.ts';
import { buildScope } from '../../src/expressions/templates/scope.ts';
import { WorkflowSettings } from '../../src/automation-workflows/definitions/settings.ts';
import { toTimestamp } from '../../src/library/time/clock.ts';
import type { ServiceError } from '../../src/library/errors.ts';
import type { SendFailure } from '../../src/messaging/messages/sender.ts';
import type { CallResult } from '../../src/calls/records/call-result.ts';
import { renderEntryKey } from '../../src/automation-workflows/runs/cause.ts';

export interface SimulatedRun {
  journey: { definition: unknown; settings: unknown };
  /** When it begins, local time in `zone`. */
  at: string;
  /** The organization's time zone, which the printed moments have, too. */
  zone: string;
  /** Null: a run without contact. A function: as the contact is at that moment (epoch ms). */
  contact: Contact | null | ((now: number) => Contact);
  context?: Record<string, unknown>;
  events?: SimulatedEvent[];
  /** How the outside world answers; absent: a dry run. */
  world?: SimulatedWorld;
}

type Contact = Record<string, unknown>;

export interface SimulatedWorld {
  /** Answers a request; absent: 200 without a body. */
  answer?(request: { method: string; url: string; body: any }): { status: number; body?: unknown };
  child?: ChildResult;
  /** How a call ends; null: not as long as the run waits for it. Absent: a person is reached. */
  call?(request: CallRequest): Partial<CallResult> | null;
  /** The result of sending each message: a failure, or nothing when the provider accepts it. */
  message?(): { failure?: Partial<SendFailure> & Pick<SendFailure, 'failure' | 'message'> };
  /** What the service itself refuses, by node type. */
  refuses?: Partial<Record<string, ServiceError>>;
}

export interface SimulatedRunResult {
  state: string;
  outcome: string | null;
  error: { node_id: string | null; type: string; message: string } | null;
  /** One line a visit: when it was begun, in `zone`, the node, and the status unless it is completed. */
  steps: string[];
  /** The output of a node's last visit. */
  outputOf(nodeId: string): any;
  /** The effects that were performed, such as contact changes and requests. */
  performed: { at: string; effect: string; request: any }[];
}

/** Walks a run on a clock that jumps, with nothing real around it. */
export async function simulateJourney({
  journey,
  at,
  zone,
  contact,
  context = {},
  events = [],
  world,
}: SimulatedRun): Promise<SimulatedRunResult> {
  const settings = WorkflowSettings.parse(journey.settings);
  const graph = new Graph(parseDefinition(journey.definition));
  const organization = { id: 1, name: 'Acme', default_country: 'US', timezone: zone };
  let now = DateTime.fromISO(at, { zone }).toMillis();
  const person = () => {
    const current = typeof contact === 'function' ? contact(now) : contact;
    return current && { id: 42, tags: [], email: null, last_name: null, custom_fields: {}, ...current };
  };
  const contactId = person()?.id ?? null;
  const journal = new MemoryJournal(startProgress(graph, now));
  const local = (epochMs: number) => DateTime.fromMillis(epochMs, { zone }).toISO({ suppressMilliseconds: true })!;
  const roots = () => ({ contact: person(), data: context, organization, now: toTimestamp(now) });
  const entryKey = renderEntryKey(settings.entry_key, buildScope(roots(), context), contactId, null);
  const scope = () => {
    const { outputs, assigned } = journal.progress();
    const run = { id: 7, contact_id: contactId, entry_key: entryKey };
    return buildScope({ ...roots(), steps: outputs, run }, { ...context, ...assigned });
  };
  const performed: SimulatedRunResult['performed'] = [];
  const note = (effect: string, request: unknown) => {
    const refusal = world?.refuses?.[effect];
    if (refusal) throw refusal;
    performed.push({ at: local(now), effect, request });
  };
  const calls: CallRequest[] = [];
  const run: RunDependencies = {
    runId: 7,
    graph,
    settings,
    deadline: deadlineOf({ settings }, journal.progress()),
    organization,
    effects: {
      ...toEffects(world ?? {}, note),
      startCall: async (_item, request) => {
        note('voice_call', request);
        return { call_run_id: calls.push(request) };
      },
    },
    dryRun: world === undefined,
    now: () => now,
    random: () => 0.5,
    loadStepContext: async () => ({ scope: scope(), isPaused: false }),
    openSecrets: async (data) => data,
    subscribe: async () => ({ afterId: 0, found: [] }),
    childResult: async () => world?.child ?? null,
    callResult: async (id) => {
      const given = world?.call ? world.call(calls[id - 1]!) : {};
      return given ? { ...reachedCallResult, call_run_id: id, ...given } : null;
    },
    withdrawCall: async (item) => note('withdraw', item),
    shouldYield: () => false,
  };
  await simulateRun(journal, run, { contactId, events, scope }, (to) => (now = to));
  const { state, outcome, error } = journal.progress();
  return {
    state,
    outcome,
    error,
    steps: journal.entries.map(
      ({ startedAt, nodeId, status }) => `${local(startedAt)} ${nodeId}${['completed', 'simulated'].includes(status) ? '' : ` ${status}`}`,
    ),
    outputOf: (nodeId) => journal.entries.findLast((entry) => entry.nodeId === nodeId)?.output,
    performed,
  };
}

const reachedCallResult: CallResult = {
  call_run_id: 0,
  outcome: 'completed',
  reason: null,
  disposition: null,
  extracted_variables: {},
  summary: null,
  duration_seconds: 40,
  returned: null,
  returned_until: null,
};

function toEffects(world: SimulatedWorld, note: (effect: string, request: unknown) => void): Omit<Effects, 'startCall'> {
  return {
    updateContact: async (_key, change) => (note('update_contact', change), { contact_id: 42 }),
    changeLists: async (_key, change) => (note('list_membership', change), {}),
    emitEvent: async (_key, event) => (note('emit_event', event), { event_id: 1 }),
    startRun: async (_key, request) => (note('run_workflow', request), { run_id: 8, state: 'running' }),
    searchKnowledge: async () => [],
    completeText: async () => ({ failure: 'not_configured', message: 'no model here', retryable: false }),
    sendMessage: async (key, message) => {
      note('send_message', { key, ...message });
      const { failure } = world.message?.() ?? {};
      const given = { id: 31, provider: message.provider ?? 'provider_b' };
      return failure
        ? { ...given, failure: { code: null, words: null, retryable: false, ...failure } }
        : { ...given, messageId: 'wamid.1', status: 'accepted' };
    },
    postToChannel: async (_key, message) => (note('chatapp_message', message), { channel: message.channel ?? 'C1', ts: '1.0' }),
    createIssue: async (_key, issue) => (
      note('tracker_issue', issue),
      { id: '1', key: 'OPS-1', url: 'https://acme.atlassian.net/browse/OPS-1' }
    ),
    createEvent: async (_key, event) => (note('calendar_event', event), { id: 'va1', isNew: true }),
    appendRow: async (_key, row) => (note('sheet_row', row), { sheet: 'Leads', row: 2, isNew: true }),
    httpRequest: async (_key, { method, url, headers, body }): Promise<OutboundResponse> => {
      const request = { method, url, key: headers['idempotency-key'], body: body === null ? null : (JSON.parse(body) as unknown) };
      note('http_request', request);
      const answer = world.answer?.(request) ?? { status: 200 };
      return {
        status: answer.status,
        headers: { 'content-type': 'application/json' },
        body: answer.body === undefined ? '' : JSON.stringify(answer.body),
        is_cut: false,
      };
    },
  };
}
