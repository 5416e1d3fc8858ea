import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { SimulatedCarrier } from '../local/carrier.ts';
import { workerdSeconds } from '../local/processor-time.ts';
import { recordedCalls, recordedUsage } from '../record.ts';
import { rowUse, type RowUse } from '../row-cost.ts';
import { Campaign, toCampaignFile, waitUntil, type CallOutcome } from './campaigns.ts';

const slots = 20;
const kinds: { name: string; ending: CallOutcome }[] = [
  { name: 'a row whose line is busy', ending: 'busy' },
  { name: 'a row whose person talks', ending: 'person' },
];

/** Campaigns whose every row ends alike, from upload to end, in the recording service; each after a small one that fills the caches. */
export async function measureRowCosts(bench: Bench): Promise<RowUse[]> {
  const uses: RowUse[] = [];
  for (const { name, ending } of kinds) {
    bench.progress(`What ${name} is billed for`);
    await new SimulatedCarrier(bench.rig.outside).behave({ ring_ms: '200-600', turn_ms: '200-400' });
    await runCampaign(bench, 2, ending);
    await recordedCalls(bench);
    await recordedUsage(bench);
    const before = workerdSeconds();
    const rows = bench.pace.costedRows;
    await runCampaign(bench, rows, ending);
    const seconds = workerdSeconds() - before;
    uses.push(rowUse(name, rows, await recordedUsage(bench), await recordedCalls(bench), seconds));
  }
  return uses;
}

/** Waits by looking into the database, since looking through the service would be billed. */
async function runCampaign(bench: Bench, rows: number, ending: CallOutcome): Promise<void> {
  const database = bench.rig.databases.recording;
  const campaign = await Campaign.draft(bench, 'recording', toCampaignFile(0, rows, ending), slots);
  await campaign.act('start');
  const open = `SELECT (SELECT count(*) FROM campaign WHERE id = ? AND state <> 'completed')
    + (SELECT count(*) FROM voice_agent_run WHERE is_completed = 0) AS count`;
  const isOver = async () => (await database.prepare(open).bind(campaign.id).first<{ count: number }>())!.count === 0;
  await waitUntil('every row is done and its call settled', 180_000, isOver);
  // Recordings still arrive, and finished objects delete themselves.
  await sleep(1500);
}
