import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectDirectory } from '../../scripts/local/settings.ts';
import type { CallCampaigns } from './call-campaigns.ts';
import { verifyCallStatistics, verifyUsageStatistics } from './full-count.ts';
import { changeRows, rowsOf } from './kill-evidence.ts';
import type { KillableService } from './killable-service.ts';
import { seededRandom } from './seeded-random.ts';
import { tickOften, until } from './service-watch.ts';
import { csvOf, peopleOf } from './soak-people.ts';
import { killSeed, startSoakService } from './soak-service.ts';

const rows = 20;
let service: KillableService;
let campaigns: CallCampaigns;

beforeAll(async () => {
  ({ service, campaigns } = await startSoakService(20, { SIM_RING_MS: '50-200', SIM_TURN_MS: '20-100' }));
});
afterAll(() => service?.remove());

const read = (path: string) => campaigns.read(path);

/** What a user types. */
const rebuildCommand = async (organizationId: number) => {
  const parameters = ['scripts/organization.ts', 'rebuild-statistics', String(organizationId)];
  const environment = { ...process.env, STATE_DIR: service.stateDirectory };
  return (await promisify(execFile)(process.execPath, parameters, { cwd: projectDirectory, env: environment })).stdout;
};

test('lost counters are the same again after the command that rebuilds statistics', { timeout: 240_000 }, async () => {
  const stopTicking = tickOften(service);
  const people = peopleOf(rows, { busy: 3, no_answer: 2, voicemail: 2 }, seededRandom(killSeed()));
  const sourceId = await campaigns.upload(csvOf(people));
  const id = await campaigns.create({ name: 'Spring', source_type: 'csv', source_id: sourceId, max_concurrency: 20 });
  await campaigns.act(id, 'start');
  await until(service, 'the campaign has completed', 120, async () => (await campaigns.stateOf(id)) === 'completed');
  await until(service, 'every talk is settled', 60, () => campaigns.areSettled());
  expect(await verifyCallStatistics(service, read)).toBe(rows);
  await verifyUsageStatistics(service, read);

  for (const table of ['call_statistic', 'journey_statistic', 'usage_statistic'])
    changeRows(service.stateDirectory, `DELETE FROM ${table}`);
  expect((await read('/statistics/calls')).totals.calls).toBe(0);
  const [organization] = rowsOf(service.stateDirectory, 'SELECT organization_id AS id FROM voice_agent_run LIMIT 1');
  expect(JSON.parse(await rebuildCommand(organization!['id']))).toMatchObject({ id: organization!['id'] });
  const isAsked = () =>
    rowsOf(service.stateDirectory, `SELECT 1 FROM organization WHERE id = ${organization!['id']} AND statistics_rebuild IS NOT NULL`)
      .length > 0;
  await until(service, 'the statistics are counted again', 60, async () => !isAsked());
  await stopTicking();
  expect(await verifyCallStatistics(service, read)).toBe(rows);
  await verifyUsageStatistics(service, read);
});
