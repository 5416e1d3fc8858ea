import type { Bench } from '../../bench.ts';
import { Campaign, phoneOf, toCampaignFile, waitUntil, type CallOutcome } from '../../cases/campaigns.ts';
import { SimulatedCarrier } from '../../local/carrier.ts';
import type { Unit } from '../account.ts';

const rows = 10;
const calls = 3;
const earlier = 2000;

const dayMs = 86_400_000;
/** Long enough ago for no other unit, and not so long that they are removed. */
const earlierAt = Date.now() - 30 * dayMs;
const untilEarlier = `end_date=${new Date(earlierAt + dayMs).toISOString().slice(0, 10)}`;

/** Calls of an agent a month ago that have ended. */
const earlierCalls = `INSERT INTO voice_agent_run (organization_id, agent_id, definition_id, name, mode, call_type, attempt_key, phone, outcome, is_completed,
    initial_context, result, created_at, completed_at)
  SELECT a.organization_id, a.id, a.current_definition_id, 'Sales to somebody', 'twilio', 'outbound', 'earlier:' || number.value, '+12125550100', 'busy', 1,
    '{}', '{}', ?3 + number.value, ?3 + number.value
  FROM voice_agent a CROSS JOIN
    (WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < ?2) SELECT value FROM number) number
  WHERE a.id = ?1`;

/** Calls alone and in campaigns. One call at a time, since how much is done for several at once depends on the time. */
export async function callUnits(bench: Bench): Promise<Unit[]> {
  const { agents, clients, headers, rig } = bench;
  await new SimulatedCarrier(rig.outside).behave({ ring_ms: 50, turn_ms: 20 });
  const open = `SELECT (SELECT count(*) FROM campaign WHERE state IN ('syncing', 'running'))
    + (SELECT count(*) FROM voice_agent_run WHERE is_completed = 0 AND mode <> 'textchat') AS count`;
  const untilOver = () =>
    waitUntil(
      'every call is settled',
      120_000,
      async () => (await rig.databases.recording.prepare(open).first<{ count: number }>())!.count === 0,
    );
  const campaign = (ending: CallOutcome) => async () => {
    const draft = await Campaign.draft(bench, 'recording', toCampaignFile(0, rows, ending), 1);
    await draft.act('start');
    await untilOver();
  };
  await rig.databases.recording.prepare(earlierCalls).bind(agents.recording, earlier, earlierAt).run();
  const read = (path: string) => () => clients.recording.call({ method: 'GET', path: `/api/v1${path}`, headers });
  let called = 1000;
  const call = async () => {
    for (let one = 0; one < calls; one++) {
      const body = JSON.stringify({ mode: 'telephony', phone: phoneOf(called++, 'person') });
      await clients.recording.call({ method: 'POST', path: `/api/v1/workflow/${agents.recording}/runs`, headers, body });
      await untilOver();
    }
  };
  const setPolicy = (policy: object) =>
    clients.recording.call({ method: 'PUT', path: '/api/v1/organizations/contact-policy', headers, body: JSON.stringify(policy) });
  const callByPolicy = async () => {
    await setPolicy({ limits: [{ channel: 'call', max: 3, per: 'day' }] });
    await call();
    await setPolicy({});
  };
  return [
    { name: 'A call whose person talks, with a contact policy', count: calls, spread: 0.1, work: callByPolicy },
    { name: 'A call whose person talks', count: calls, spread: 0.1, work: call },
    { name: `A row of ${rows} of a campaign whose line is busy`, count: rows, spread: 0.05, work: campaign('busy') },
    { name: `A row of ${rows} of a campaign whose person talks`, count: rows, spread: 0.1, work: campaign('person') },
    { name: 'A page of 50 calls of the organization is read', work: read(`/calls?limit=50&${untilEarlier}`) },
    { name: `An export of ${earlier} calls`, work: read(`/calls/export?${untilEarlier}`) },
  ];
}
