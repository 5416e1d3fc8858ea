import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../local/settings.ts';
import { findRowProblems, type CampaignRow } from '../campaign-rows.ts';
import type { Tour, TourStep } from '../step.ts';

interface CallRun {
  id: number;
  is_completed: boolean;
  gathered_context: { call_disposition: string | null; extracted_variables: Record<string, unknown> };
  cost_info: { call_duration_seconds: number };
}

const timeoutMs = 15_000;
const pollMs = 100;

export const showCalls: TourStep = {
  title: 'What became of each row, and why',
  operation: 'GET /campaign/{campaign_id}/runs',
  async run(tour) {
    const { service, baseUrl, say } = tour;
    const { id, agentId } = tour.notes.read('campaign');
    const { runs: rows } = await service.get<{ runs: CampaignRow[] }>(`/campaign/${id}/runs?limit=500`);
    for (const row of rows) {
      say(`row ${String(row.row_number).padStart(2)}  ${row.phone.padEnd(14)}  ${row.state.padEnd(9)}  ${await whyOf(tour, row)}`);
    }
    const problems = findRowProblems(rows);
    if (problems.length > 0) throw new LocalError(problems.join('\n   '));
    const [first] = rows;
    const run = `${baseUrl}/workflow/${agentId}/runs/${first!.run_ids[0]}`;
    const transcript = await service.get<string>(`/workflow/${agentId}/runs/${first!.run_ids[0]}/transcript`);
    tour.terminal.line('');
    say(`The talk of row 1, ${run}/transcript`);
    for (const line of transcript.trim().split('\n')) say(`  ${line}`);
    tour.terminal.line('');
    say(`The same as CSV, for everybody else: ${baseUrl}/campaign/${id}/report`);
    say(`Whoever was not reached, again:      POST ${baseUrl}/campaign/${id}/redial`);
  },
};

/** The outcome of a dialled row by its call; for any other row the reason why it was not dialled. */
async function whyOf(tour: Tour, row: CampaignRow): Promise<string> {
  const [runId] = row.run_ids;
  if (runId === undefined) return row.reason ?? 'no reason given';
  const run = await settled(tour, runId);
  const { call_disposition: disposition, extracted_variables: variables } = run.gathered_context;
  const gathered = Object.entries(variables).map(([name, value]) => `${name}: ${String(value)}`);
  const why = row.reason ?? (row.outcome === row.state ? null : row.outcome);
  return [why, disposition, ...gathered, `call ${run.id}, ${run.cost_info.call_duration_seconds} s`].filter(Boolean).join('; ');
}

/** The talk of a call is evaluated after the line has ended. */
async function settled({ service, notes }: Tour, runId: number): Promise<CallRun> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const run = await service.get<CallRun>(`/workflow/${notes.read('campaign').agentId}/runs/${runId}`);
    if (run.is_completed) return run;
    if (Date.now() > deadline) throw new LocalError(`call ${runId} has ended, but its talk has not been evaluated`);
    await sleep(pollMs);
  }
}
