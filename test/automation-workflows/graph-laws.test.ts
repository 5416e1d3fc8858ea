import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDefinition, validateGraph, Graph } from '../../src/automation-workflows/definitions/definition.ts';
import { callHandles } from '../../src/automation-workflows/nodes/shared/call-outcome.ts';
import type { Effects } from '../../src/automation-workflows/nodes/contract.ts';
import { findNodeType, nodeTypes } from '../../src/automation-workflows/nodes/registry.ts';
import type { HistoryEntry } from '../../src/automation-workflows/runs/engine/history.ts';
import { MemoryJournal } from '../../src/automation-workflows/runs/engine/memory-journal.ts';
import { startProgress } from '../../src/automation-workflows/runs/engine/progress.ts';
import type { RunDependencies } from '../../src/automation-workflows/runs/engine/dependencies.ts';
import { simulateRun, type SimulatedEvent } from '../../src/automation-workflows/runs/dry-run/simulate-run.ts';
import { buildScope } from '../../src/expressions/templates/scope.ts';
import { WorkflowSettings } from '../../src/automation-workflows/definitions/settings.ts';
import { isRecord } from '../../src/library/json/json.ts';
import { rowOutcomes } from '../../src/calls/attempt/outcomes.ts';
import { returnReasons } from '../../src/calls/contract.ts';

const day = 86_400_000;
const startedAt = Date.UTC(2026, 2, 1, 12);

/** The data of a node of each type. The context decides which handle the node takes. */
const dataOf: Record<string, (n: number) => Record<string, unknown>> = {
  condition: (n) => ({ condition: { field: `x${n % 3}`, operator: 'gt', value: n % 5 } }),
  switch: (n) => ({
    value: `{{ x${n % 3} }}`,
    cases: [
      { key: 'low', equals: n % 4 },
      { key: 'high', equals: (n + 1) % 4 },
    ],
  }),
  split: () => ({
    variants: [
      { key: 'a', weight: 1 },
      { key: 'b', weight: 2 },
    ],
  }),
  wait: (n) => ({ duration: `PT${(n % 40) + 1}H` }),
  wait_for_event: (n) => ({ event_types: [`e${n % 3}`], timeout: `PT${(n % 40) + 1}H`, lookback: n % 2 ? 'PT0S' : 'PT12H' }),
  set_context: (n) => ({ assign: { [`x${n % 3}`]: `{{ x${(n + 1) % 3} | plus: 1 }}` } }),
  update_contact: () => ({ add_tags: ['seen'] }),
  list_membership: () => ({ add: ['Seen'] }),
  emit_event: () => ({ event_type: 'seen' }),
  http_request: () => ({ url: 'https://shop.example.com/', method: 'POST' }),
  voice_call: (n) => ({ workflow_id: 9, phone: '+14155550100', wait_for_result: n % 4 > 0, timeout: `PT${(n % 40) + 1}H` }),
  send_message: (n) => ({ to: '+14155550100', template_name: 'hello', template_params: { 1: `{{ x${n % 3} }}` } }),
  chatapp_message: () => ({ channel: 'C1', text: 'seen' }),
  tracker_issue: (n) => ({ project: 'OPS', summary: `seen ${n}` }),
  calendar_event: () => ({ start: '2026-11-28T09:00', duration: 'PT30M', summary: 'seen' }),
  sheet_row: (n) => ({ values: { Seen: n } }),
  exit: (n) => ({ outcome: `end ${n}` }),
};
const types = Object.keys(dataOf);
const isWait = (type: string) => nodeTypes.get(type)?.isWait === true;

interface Drawn {
  nodes: { type: string; number: number }[];
  /** For the handles of all nodes in turn: the target of the edge, as a share of the possible targets; above 1: no edge. */
  targets: number[];
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  nodes: fc.array(fc.record({ type: fc.constantFrom(...types), number: fc.nat(99) }), { minLength: 1, maxLength: 14 }),
  targets: fc.array(fc.double({ min: 0, max: 1.3, noNaN: true }), { minLength: 60, maxLength: 60 }),
});

/**
 * A graph with edges to later nodes and, from waits alone, to any but the trigger, so that every loop passes a wait. Nodes that
 * nothing leads to are left out.
 */
function graphOf({ nodes, targets }: Drawn) {
  const all = [
    { id: 'in', type: 'trigger', data: {} },
    ...nodes.map(({ type, number }, index) => ({ id: `n${index + 1}`, type, data: dataOf[type]!(number) })),
  ];
  const edges: { id: string; source: string; target: string; source_handle: string }[] = [];
  let next = 0;
  for (const [index, node] of all.entries()) {
    for (const handle of new Set(findNodeType(node.type)!.handles(node.data))) {
      const share = targets[next++ % targets.length]!;
      const from = isWait(node.type) ? 1 : index + 1;
      const target = all[from + Math.floor(share * (all.length - from))];
      if (share < 1 && target) edges.push({ id: `${node.id}-${handle}`, source: node.id, target: target.id, source_handle: handle });
    }
  }
  const reached = new Set(['in']);
  for (const id of reached) for (const edge of edges) if (edge.source === id) reached.add(edge.target);
  return { nodes: all.filter(({ id }) => reached.has(id)), edges: edges.filter(({ source }) => reached.has(source)) };
}

/** Dependencies whose side effects work, fail for good or fail temporarily, in turn. */
function createDependencies(graph: Graph, settings: WorkflowSettings, failures: boolean[], clock: { now: number }): RunDependencies {
  let call = 0;
  const orders: string[] = [];
  const effect = async () => {
    if (failures[call++ % failures.length]) throw new Error('away for the moment');
    return { ok: true } as never;
  };
  const tool = async <Done extends object>(done: Done) => {
    await effect();
    return failures[call++ % failures.length] ? { failure: 'unavailable' as const, message: 'away', outcomeUnknown: true as const } : done;
  };
  const effects: Effects = {
    updateContact: effect,
    changeLists: effect,
    emitEvent: effect,
    httpRequest: async () => ({ status: failures[call++ % failures.length] ? 503 : 200, headers: {}, body: '', is_cut: false }),
    completeText: async () => ({ failure: 'not_configured', message: 'none', retryable: false }),
    searchKnowledge: effect,
    startRun: effect,
    sendMessage: async () => {
      await effect();
      const sent = { id: 1, provider: 'provider_b' };
      if (failures[call++ % failures.length])
        return { ...sent, failure: { failure: 'opted_out', message: 'no more', code: '1', words: null, retryable: false } };
      return { ...sent, messageId: 'wamid.1', status: 'accepted' };
    },
    postToChannel: async () => tool({ channel: 'C1', ts: '1.0' }),
    createIssue: async () => tool({ id: '1', key: 'OPS-1', url: 'https://acme.atlassian.net/browse/OPS-1' }),
    createEvent: async () => tool({ id: 'va1', isNew: true }),
    appendRow: async () => tool({ sheet: 'Leads', row: 2, isNew: true }),
    startCall: async (item) => {
      await effect();
      const order = orders.findIndex((known) => known === item);
      return { call_run_id: order < 0 ? orders.push(item) : order + 1 };
    },
  };
  return {
    runId: 1,
    graph,
    settings,
    deadline: startedAt + 30 * day,
    organization: { default_country: 'US', timezone: 'UTC' },
    effects,
    dryRun: false,
    now: () => clock.now,
    random: () => 0.5,
    loadStepContext: async (progress) => ({
      scope: buildScope(
        { contact: { id: 7, tags: [], custom_fields: {} }, steps: progress.outputs, run: { id: 1, entry_key: 'k' } },
        { x0: 1, x1: 2, x2: 0, ...progress.assigned },
      ),
      isPaused: false,
    }),
    openSecrets: async (data) => data,
    subscribe: async () => ({ afterId: 0, found: [] }),
    childResult: async () => null,
    callResult: async (id) => {
      if (failures[call++ % failures.length]) return null;
      const returned = id % 5 === 0 ? returnReasons[id % returnReasons.length]! : null;
      const outcome = rowOutcomes[id % rowOutcomes.length]!;
      return { ...callEnd, call_run_id: id, outcome, returned, returned_until: id % 2 ? clock.now + 7_200_000 : null };
    },
    withdrawCall: async () => undefined,
    shouldYield: () => false,
  };
}

const callEnd = { reason: null, disposition: null, extracted_variables: {}, summary: null, duration_seconds: 0 };

/** The handles by which a run may go on after a record; none: the run ends there or stays. */
function waysOut(entry: HistoryEntry, settings: WorkflowSettings): string[] {
  if (entry.status === 'failed') return ['error', ...(settings.on_error === 'continue' ? ['default'] : [])];
  if (entry.status !== 'completed' && entry.status !== 'skipped') return [];
  const output = isRecord(entry.output) ? entry.output : {};
  if (entry.nodeType === 'voice_call' && 'outcome' in output)
    return [callHandles.find((handle) => handle === output['outcome']) ?? 'failed', 'default'];
  if (entry.nodeType === 'send_message' && 'status' in output) return [output['reason'] === null ? 'sent' : 'failed', 'default'];
  const chosen: Record<string, unknown> = {
    condition: output['result'],
    switch: output['case'],
    split: output['variant'],
    wait_for_event: output['received'] ? 'received' : 'timeout',
    exit: null,
  };
  const way = entry.nodeType in chosen ? chosen[entry.nodeType] : 'default';
  return way === null ? [] : [String(way)];
}

const events: fc.Arbitrary<SimulatedEvent[]> = fc.array(
  fc.record({ event_type: fc.constantFrom('e0', 'e1', 'e2'), data: fc.constant({}), after: fc.nat(700).map((hours) => `PT${hours}H`) }),
  { maxLength: 12 },
);

test('a run of every valid graph ends, and its history shows every edge that it took', { tags: 'soak' }, async () => {
  let walked = 0;
  let ends = { completed: 0, failed: 0 };
  await fc.assert(
    fc.asyncProperty(
      drawn,
      events,
      fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
      fc.constantFrom('fail' as const, 'continue' as const),
      async (plan, given, failures, on_error) => {
        const definition = graphOf(plan);
        expect(validateGraph(definition, nodeTypes)).toEqual([]);
        const graph = new Graph(parseDefinition(definition));
        const settings = WorkflowSettings.parse({ on_error, retry: { max_attempts: 2 } });
        const clock = { now: startedAt };
        const journal = new MemoryJournal(startProgress(graph, startedAt));
        const run = createDependencies(graph, settings, failures, clock);
        await simulateRun(journal, run, { contactId: 7, events: given, scope: () => buildScope({}) }, (now) => {
          expect(now).toBeGreaterThanOrEqual(clock.now);
          clock.now = now;
        });
        const progress = journal.progress();
        walked++;
        ends = { ...ends, [progress.state]: (ends[progress.state as 'failed'] ?? 0) + 1 };
        expect(['completed', 'failed']).toContain(progress.state);
        if (progress.state === 'failed') expect(progress.error).toMatchObject({ type: expect.any(String), message: expect.any(String) });
        expect(progress.wait).toBeNull();
        expect(clock.now).toBeLessThanOrEqual(run.deadline);
        // Every step from one visit to the next is an edge of the graph, at a handle that the record before it shows.
        const { entries } = journal;
        expect(entries[0]).toMatchObject({ nodeId: 'in', visit: 1 });
        for (const [index, entry] of entries.slice(1).entries()) {
          const before = entries[index]!;
          expect(entry.startedAt).toBeGreaterThanOrEqual(before.startedAt);
          if (entry.nodeId === before.nodeId && entry.visit === before.visit) continue;
          const leaving = definition.edges.filter(({ source }) => source === before.nodeId);
          const way = waysOut(before, settings).find((handle) => leaving.some(({ source_handle }) => source_handle === handle));
          const edge = leaving.find(({ source_handle }) => source_handle === way);
          expect(edge?.target, `${before.nodeId} (${before.status}) -> ${entry.nodeId}`).toBe(entry.nodeId);
        }
        for (const entry of entries) expect(['started', 'waiting']).not.toContain(entry.status);
      },
    ),
    { numRuns: 400 },
  );
  expect(walked).toBeGreaterThanOrEqual(400);
  expect(ends.completed).toBeGreaterThan(20);
  expect(ends.failed).toBeGreaterThan(20);
});
