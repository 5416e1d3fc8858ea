import type { Bench } from '../bench.ts';
import type { Caller } from './campaigns.ts';

/** A line for every system prompt of a session, by which the model knows which session it answers. */
export const toSystemPrompt = (talk: string): string => `Talk ${talk}. You speak about a delivery of furniture, one sentence at a time.`;

const createAgent = (name: string) => ({
  name,
  workflow_definition: { nodes: [{ id: 'start', type: 'startCall', data: { prompt: toSystemPrompt('{{ talk }}') } }], edges: [] },
});

interface Pairing {
  actor_workflow_id: number;
  adversary_workflow_id: number;
}

/** Two agents that talk with each other until the turn limit, and requests about their test sessions. */
export class TestAgents {
  readonly #bench: Bench;
  readonly #caller: Caller;
  readonly #pairing: Pairing;

  private constructor(bench: Bench, caller: Caller, pairing: Pairing) {
    this.#bench = bench;
    this.#caller = caller;
    this.#pairing = pairing;
  }

  static async create(bench: Bench, caller: Caller): Promise<TestAgents> {
    const { clients, headers } = bench;
    const create = (name: string) =>
      clients[caller].json<{ id: number }>({
        method: 'POST',
        path: '/api/v1/workflow/create/definition',
        headers,
        body: JSON.stringify(createAgent(name)),
      });
    const [actor, adversary] = [await create('Shop'), await create('Customer')];
    return new TestAgents(bench, caller, { actor_workflow_id: actor.id, adversary_workflow_id: adversary.id });
  }

  /** Starts one session of the two agents; returns its id. `talk` is the name of the session in their prompts. */
  async startSession(talk: string, turns: number): Promise<number> {
    const config = { max_turns: turns, actor_context: { talk }, adversary_context: { talk } };
    const { id } = await this.#post<{ id: number }>('/test-sessions', { name: talk, ...this.#pairing, config });
    await this.#post(`/test-sessions/${id}/start`);
    return id;
  }

  /** Starts a load test; returns its id. */
  async startLoadTest(count: number, concurrency: number, config: object, rampSeconds = 0): Promise<number> {
    const load = { name: 'Load', ...this.#pairing, test_count: count, concurrency, ramp_seconds: rampSeconds, config };
    return (await this.#post<{ load_test_group_id: number }>('/load-tests', load)).load_test_group_id;
  }

  read<Answer>(path: string): Promise<Answer> {
    const { clients, headers } = this.#bench;
    return clients[this.#caller].json<Answer>({ method: 'GET', path: `/api/v1/simtest${path}`, headers });
  }

  #post<Answer>(path: string, body: object = {}): Promise<Answer> {
    const { clients, headers } = this.#bench;
    return clients[this.#caller].json<Answer>({ method: 'POST', path: `/api/v1/simtest${path}`, headers, body: JSON.stringify(body) });
  }
}
