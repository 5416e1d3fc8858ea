import { measureAlternately, bothSides, type Bench } from '../bench.ts';
import { SimulatedCarrier } from '../local/carrier.ts';
import type { TargetedFigure } from '../targets.ts';
import { Campaign, toCampaignFile, waitUntil } from './campaigns.ts';

const fileName = 'people.csv';
/** How often the campaign's state is read, and so how exactly the end of the import is known. */
const betweenMs = 20;

/** From the start of a campaign over a file until all its rows are in and it runs. */
export async function measureCampaignRows(bench: Bench): Promise<TargetedFigure[]> {
  const { campaignRows: rows, campaignRowsRounds } = bench.pace;
  bench.progress(`A campaign of ${rows} rows`);
  const file = toCampaignFile(0, rows, 'busy');
  await new SimulatedCarrier(bench.rig.outside).behave({ ring_ms: 50 });
  await bench.clients.floor.call({ method: 'PUT', path: `/files/${fileName}`, body: file });
  const seconds = await measureAlternately(campaignRowsRounds, bothSides, (side) =>
    side === 'service' ? startCampaign(bench, file, rows) : importRows(bench, rows),
  );
  return [
    {
      name: `A campaign of ${rows} rows, from start until they are in and it runs`,
      unit: 's',
      target: { atMost: 5 },
      ...seconds,
      floorDoes: 'reads the file from R2 and inserts its lines into the SQLite of an object, 500 in a transaction',
    },
  ];
}

/** Answers the seconds. */
async function startCampaign(bench: Bench, file: string, rows: number): Promise<number> {
  const campaign = await Campaign.draft(bench, 'service', file, 10);
  const startedAt = performance.now();
  await campaign.act('start');
  const isIn = async () => {
    const { state, total_rows } = await campaign.read();
    return state === 'running' && total_rows === rows;
  };
  await waitUntil('all rows are in', 60_000, isIn, betweenMs);
  const seconds = secondsSince(startedAt);
  await campaign.act('cancel');
  await campaign.untilQuiet();
  return seconds;
}

async function importRows({ clients }: Bench, rows: number): Promise<number> {
  const startedAt = performance.now();
  const taken = await clients.floor.json<{ rows: number }>({ method: 'POST', path: `/rows/${fileName}` });
  if (taken.rows !== rows) throw new Error(`The floor took in ${taken.rows} of ${rows} rows`);
  return secondsSince(startedAt);
}

const secondsSince = (startedAt: number) => (performance.now() - startedAt) / 1000;
