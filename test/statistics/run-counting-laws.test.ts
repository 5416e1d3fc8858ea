import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { reviveRun } from '../../src/automation-workflows/runs/lifecycle/store.ts';
import { endRunRow, projectRuns, type RunProjection } from '../../src/automation-workflows/runs/store.ts';
import { readJourneyStatistics } from '../../src/statistics/journey-statistics.ts';
import { rebuildStep } from '../../src/statistics/rebuild.ts';
import type { RebuildPlace } from '../../src/statistics/rebuild-store.ts';
import { readUsage } from '../../src/statistics/usage-statistics.ts';
import { insertRow } from '../support/insert-row.ts';
import { createActiveWorkflow } from '../support/journeys.ts';
import { newOrganization } from '../support/organization.ts';
import { ownRows } from '../support/own-rows.ts';
import { contextOf } from '../voice-agents/runs.ts';

const some = <Value>(...values: readonly Value[]) => fc.constantFrom(...values);
const trails = [
  '{"nodes":["in"]}',
  '{"nodes":["in","test"],"variants":{"test":"a"}}',
  '{"nodes":["in","test"],"variants":{"test":"b"},"tokens":[3,4]}',
];

const action = fc.record({
  run: fc.nat({ max: 4 }),
  do: some('wait', 'complete', 'fail', 'fail', 'stop from outside', 'retry', 'rebuild'),
  trail: some(...trails),
  outcome: some(null, 'won', 'lost'),
  isRepeated: fc.boolean(),
});

interface StoredRun {
  state: string;
  outcome: string | null;
  trail: string | null;
  workflow_version: number;
  completed_at: number | null;
}

/** What the rows of the runs say. */
function countFully(runs: StoredRun[]) {
  const ended = runs.filter(({ completed_at }) => completed_at !== null);
  const inState = (state: string) => ended.filter((run) => run.state === state).length;
  const begun = runs.filter(({ trail }) => trail !== null);
  const reached = (node: string) => begun.filter(({ trail }) => (JSON.parse(trail!) as { nodes: string[] }).nodes.includes(node)).length;
  const variants = begun.flatMap(({ trail }) => (JSON.parse(trail!) as { variants?: { test: string } }).variants?.test ?? []);
  return {
    ended: { completed: inState('completed'), failed: inState('failed'), cancelled: inState('cancelled') },
    runs: begun.length,
    live: runs.length - ended.length,
    won: ended.filter(({ state, outcome }) => state === 'completed' && outcome === 'won').length,
    nodes: { in: reached('in'), test: reached('test') },
    variants: { a: variants.filter((one) => one === 'a').length, b: variants.filter((one) => one === 'b').length },
  };
}

test('statistics of a journey equal a full count after any waits, ends, retries, repeats and rebuilds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
      const { id, client } = await newOrganization();
      const context = await contextOf(id);
      const { database } = context;
      const workflowId = await createActiveWorkflow(client, {});
      const runs = await Promise.all(
        Array.from({ length: 5 }, () =>
          insertRow('automation_run', {
            organization_id: id,
            workflow_id: workflowId,
            workflow_version: 1,
            state: 'queued',
            source: 'run',
            created_at: Date.now() - 3_600_000,
          }),
        ),
      );
      let revision = 0;
      for (const step of actions) {
        const runId = runs[step.run]!;
        revision++;
        const projection: RunProjection = {
          state: step.do === 'complete' ? 'completed' : step.do === 'fail' ? 'failed' : 'waiting',
          currentNodeId: 'in',
          outcome: step.do === 'complete' ? step.outcome : null,
          error: null,
          contextChanges: null,
          trail: step.trail,
          history: null,
          hold: null,
          voiceCallRunId: null,
          revision,
          wakeAt: null,
          startedAt: 1,
          leftWaits: [],
          exitEventId: null,
          completedAt: step.do === 'wait' ? null : Date.now(),
        };
        const act = async () => {
          if (step.do === 'stop from outside')
            await endRunRow(database, id, runId, { state: 'cancelled', outcome: null, error: null }, { now: Date.now(), which: 'live' });
          else if (step.do === 'retry') await reviveRun(database, id, { id: runId, version: 2, now: Date.now(), revision });
          else if (step.do === 'rebuild')
            for (
              let place: RebuildPlace | null = { step: 'journeys' };
              place?.step === 'journeys' || place?.step === 'runs';
              place = await rebuildStep(context, place, Date.now())
            );
          else await projectRuns(database, id, [{ ...projection, id: runId }]);
        };
        await act();
        if (step.isRepeated) await act();
      }
      const { results } = await ownRows
        .prepare('SELECT state, outcome, trail, workflow_version, completed_at FROM automation_run WHERE workflow_id = ?')
        .bind(workflowId)
        .all<StoredRun>();
      const found = await readJourneyStatistics(context, workflowId, { interval: 'month' });
      const node = (name: string) => found.nodes.find(({ node_id }) => node_id === name)?.reached ?? 0;
      const variant = (name: string) => found.variants.find((one) => one.variant === name)?.runs ?? 0;
      expect({
        ended: found.ended,
        runs: found.runs,
        live: found.live,
        won: found.outcomes['won'] ?? 0,
        nodes: { in: node('in'), test: node('test') },
        variants: { a: variant('a'), b: variant('b') },
      }).toEqual(countFully(results));
      const { totals } = await readUsage(context, {});
      expect(totals.journey_runs).toBe(results.filter(({ completed_at }) => completed_at !== null).length);
      const byVersion = (version: number) =>
        results.filter(({ workflow_version: one, completed_at }) => one === version && completed_at !== null).length;
      for (const { version, ended } of found.versions) expect(ended.completed + ended.failed + ended.cancelled).toBe(byVersion(version));
    }),
    { numRuns: 25 },
  );
}, 120_000);
