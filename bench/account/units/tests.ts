import type { Bench } from '../../bench.ts';
import { TestAgents } from '../../cases/test-agents.ts';
import { waitUntil } from '../../cases/campaigns.ts';
import type { Unit } from '../account.ts';

const turns = 10;
const sessions = 10;

/** Conversation tests between two agents, alone and in a load test. */
export async function testUnits(bench: Bench): Promise<Unit[]> {
  const agents = await TestAgents.create(bench, 'recording');
  const open = "SELECT count(*) AS count FROM test_session WHERE status IN ('pending', 'running')";
  const untilOver = () =>
    waitUntil('every session has ended', 60_000, async () => {
      const found = await bench.rig.databases.recording.prepare(open).first<{ count: number }>();
      return found!.count === 0;
    });
  return [
    {
      name: `A test session of ${turns} turns`,
      work: async () => {
        await agents.startSession('account', turns);
        await untilOver();
      },
    },
    {
      name: `A test session of ${turns} turns in a load test of ${sessions}, one at a time`,
      count: sessions,
      spread: 0.05,
      work: async () => {
        await agents.startLoadTest(sessions, 1, { max_turns: turns });
        await untilOver();
      },
    },
  ];
}
