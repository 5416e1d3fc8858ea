import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../local/settings.ts';
import { agentTest, describeChecks, describeEnd, hasEnded, readAgentTest, type TestSession } from '../agent-test.ts';
import { findAgent } from '../agents.ts';
import type { Tour, TourStep } from '../step.ts';

interface Talk {
  conversation: { transcript: { speaker: 'actor' | 'adversary'; text: string }[] };
}

const timeoutMs = 60_000;
const pollMs = 100;

export const testAgent: TourStep = {
  title: 'Have another agent play a customer, and check the talk',
  operation: 'POST /simtest/test-sessions',
  async run(tour) {
    const { service, baseUrl, say, stamp } = tour;
    const actor = await findAgent(tour, agentTest.actor);
    const adversary = await findAgent(tour, agentTest.adversary);
    say(`The actor is "${actor.name}" (id ${actor.id}), the adversary "${adversary.name}" (id ${adversary.id})`);
    const { id } = await service.post<TestSession>('/simtest/test-sessions', {
      name: `Tour: ${stamp}`,
      actor_workflow_id: actor.id,
      adversary_workflow_id: adversary.id,
      config: readAgentTest(),
    });
    await service.post(`/simtest/test-sessions/${id}/start`, {});
    const { results, error } = await ended(tour, id);
    const { conversation } = await service.get<Talk>(`/simtest/test-sessions/${id}/conversation`);
    for (const { speaker, text } of conversation.transcript) say(`  ${speaker === 'actor' ? 'Actor' : 'Adversary'}: ${text}`);
    for (const line of results ? describeChecks(results) : []) say(line);
    say(`Outcome ${results ? describeEnd(results) : error}`);
    say(`${baseUrl}/simtest/test-sessions/${id}`);
    say(`Many of them: npm run simtest -- --agent ${actor.id} --adversary ${adversary.id} --count 20 --config examples/${agentTest.file}`);
    if (results?.outcome !== 'passed') throw new LocalError(`the session did not pass: ${error ?? results?.stop_reason}`);
  },
};

async function ended({ service }: Tour, id: number): Promise<TestSession> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const session = await service.get<TestSession>(`/simtest/test-sessions/${id}`);
    if (hasEnded(session)) return session;
    if (Date.now() > deadline) throw new LocalError(`session ${id} is still ${session.status}`);
    await sleep(pollMs);
  }
}
