import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../local/settings.ts';
import { hasEnded, findProblems, findRunsOfOrders } from '../orders.ts';
import type { Run } from '../orders.ts';
import type { Tour, TourStep } from '../step.ts';

const timeoutMs = 15_000;
const pollMs = 200;

export const followRuns: TourStep = {
  title: 'Follow the runs that started',
  operation: 'GET /automation-workflows/{workflow_id}/runs',
  async run(tour) {
    const orders = tour.notes.read('orders');
    const deadline = Date.now() + timeoutMs;
    const printed = new Map<number, string>();
    tour.terminal.begin(`   ${orders.length} orders are on their way`);
    let runs = await runsSoFar(tour);
    for (; ; runs = await runsSoFar(tour)) {
      for (const run of runs.toReversed()) printMove(tour, run, printed);
      const areEnded = [...findRunsOfOrders(orders, runs).values()].every((own) => own.length > 0 && own.every(hasEnded));
      if (areEnded || Date.now() > deadline) break;
      await sleep(pollMs);
    }
    tour.terminal.end();
    const found = findRunsOfOrders(orders, runs);
    const problems = findProblems(found);
    if (problems.length > 0) throw new LocalError([...problems, ...(await triggerFaults(tour))].join('\n   '));
    tour.notes.write('runs', new Map([...found].map(([order, own]) => [order, own[0]!])));
    tour.say(`${orders.length} orders, ${runs.length} runs: one each, also of the order and the delivery that came twice`);
    tour.say(`${tour.baseUrl}/automation-workflows/${tour.notes.read('journey').id}/runs`);
  },
};

/** The journey's runs since the tour began, newest first. */
async function runsSoFar({ service, notes, startedAt }: Tour): Promise<Run[]> {
  const since = new Date(startedAt).toISOString();
  const { runs } = await service.get<{ runs: Run[] }>(
    `/automation-workflows/${notes.read('journey').id}/runs?limit=500&created_after=${since}`,
  );
  return runs;
}

/** Prints a line when a run has moved since the last look. */
function printMove({ notes, say, startedAt }: Tour, run: Run, printed: Map<number, string>): void {
  const node =
    run.current_node_id === null ? '' : ` at "${notes.read('journey').nodeNames.get(run.current_node_id) ?? run.current_node_id}"`;
  const place = `${run.state}${node}`;
  if (printed.get(run.id) === place) return;
  printed.set(run.id, place);
  say(`${((Date.now() - startedAt) / 1000).toFixed(1)} s  run ${run.id}, order ${run.initial_context.order_id}: ${place}`);
}

async function triggerFaults({ service, notes }: Tour): Promise<string[]> {
  const { triggers } = await service.get<{ triggers: { id: number; state: string; last_error: string | null }[] }>(
    `/automation-workflows/${notes.read('journey').id}/triggers`,
  );
  return triggers
    .filter(({ state, last_error }) => state !== 'active' || last_error !== null)
    .map(({ id, state, last_error }) => `trigger ${id} is ${state}${last_error === null ? '' : `, last_error: ${last_error}`}`);
}
