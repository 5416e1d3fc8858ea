import { expect } from 'vitest';
import type { KillableService } from './killable-service.ts';
import { PatientSender } from './patient-sender.ts';

/** The model takes its time, so that kills meet it at work. */
const slow = '\nSIM_SLOW_200';

/** Greets, asks for a day, thanks. */
const seller = {
  name: 'Spring offer',
  workflow_definition: {
    nodes: [
      {
        id: 'start',
        type: 'startCall',
        data: {
          prompt: `You call about the spring offer. Ask whether they are interested.${slow}`,
          greeting: 'Hello, this is Acme about the spring offer. Are you interested?',
        },
      },
      { id: 'book', type: 'agentNode', data: { name: 'Booking', prompt: `Ask which day suits them.${slow}` } },
      { id: 'bye', type: 'endCall', data: { prompt: 'Thank them and say goodbye.' } },
    ],
    edges: [
      { id: 'yes', source: 'start', target: 'book', data: { label: 'interested', condition: 'the person says yes or is interested' } },
      { id: 'no', source: 'start', target: 'bye', data: { label: 'not interested', condition: 'the person says no or is not interested' } },
      { id: 'day', source: 'book', target: 'bye', data: { label: 'day chosen', condition: 'the person named a day' } },
    ],
  },
};

const customer = {
  name: 'Customer',
  workflow_definition: {
    nodes: [{ id: 'start', type: 'startCall', data: { prompt: `Yes, I am interested. The day that suits me is Tuesday.${slow}` } }],
    edges: [],
  },
};

/** Somebody who has two agents talk with each other, and sends again what was not answered. */
export class AgentTests {
  readonly #sender: PatientSender;
  #pairing = { actor_workflow_id: 0, adversary_workflow_id: 0 };

  constructor(service: KillableService) {
    this.#sender = new PatientSender(service);
  }

  /** Creates the two agents. */
  async prepare(): Promise<void> {
    const { id: actor } = await this.post('/workflow/create/definition', seller);
    const { id: adversary } = await this.post('/workflow/create/definition', customer);
    this.#pairing = { actor_workflow_id: actor, adversary_workflow_id: adversary };
  }

  async read(path: string): Promise<any> {
    const { status, body } = await this.#sender.send({ method: 'GET', path });
    expect(status, `GET ${path}: ${JSON.stringify(body)}`).toBe(200);
    return body;
  }

  async post(path: string, body?: object): Promise<any> {
    const answer = await this.#sender.send({ method: 'POST', path, body });
    expect(answer.status, `POST ${path}: ${JSON.stringify(answer.body)}`).toBe(200);
    return answer.body;
  }

  /** Creates and starts one session; answers its id. */
  async startSession(config: object): Promise<number> {
    const { id } = await this.post('/simtest/test-sessions', { name: 'One', ...this.#pairing, config });
    await this.post(`/simtest/test-sessions/${id}/start`);
    return id;
  }

  /** Creates and starts a load test; returns its id. */
  async startLoadTest(test_count: number, concurrency: number, config: object): Promise<number> {
    const load = { name: 'Many', ...this.#pairing, test_count, concurrency, config };
    return (await this.post('/simtest/load-tests', load)).load_test_group_id;
  }

  session = (id: number): Promise<any> => this.read(`/simtest/test-sessions/${id}`);

  /** The talk of a session, in order. */
  async transcript(id: number): Promise<{ speaker: string; text: string }[]> {
    const { conversation } = await this.read(`/simtest/test-sessions/${id}/conversation`);
    return conversation.transcript.map(({ speaker, text }: any) => ({ speaker, text }));
  }
}
