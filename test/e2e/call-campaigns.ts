import { expect } from 'vitest';
import type { KillableService } from './killable-service.ts';
import { PatientSender } from './patient-sender.ts';

/** Greets, hears whether the person is interested, thanks, and ends the call. */
const agent = {
  name: 'Spring offer',
  workflow_definition: {
    nodes: [
      {
        id: 'start',
        type: 'startCall',
        data: {
          prompt: 'You call {{first_name}} about the spring offer. Ask whether they are interested.',
          greeting: 'Hello {{first_name}}, this is Acme about the spring offer. Are you interested?',
        },
      },
      { id: 'bye', type: 'endCall', data: { prompt: 'Thank them and say goodbye.' } },
    ],
    edges: [
      { id: 'yes', source: 'start', target: 'bye', data: { label: 'interested', condition: 'the person says yes or is interested' } },
      { id: 'no', source: 'start', target: 'bye', data: { label: 'not interested', condition: 'the person says no or is not interested' } },
    ],
  },
};

const pageSize = 500;

/** A client that runs campaigns, and repeats requests that were not answered. */
export class CallCampaigns {
  readonly sender: PatientSender;
  readonly #service: KillableService;
  agentId = 0;

  constructor(service: KillableService) {
    this.#service = service;
    this.sender = new PatientSender(service);
  }

  /** Creates the agent, and has the simulated carrier take as many calls a second as come. */
  async prepare(): Promise<void> {
    this.agentId = (await this.post('/workflow/create/definition', agent)).id;
    const { telephony_configs: configs } = await this.read('/organizations/telephony-configs');
    const path = `/organizations/telephony-configs/${configs[0].id}`;
    const { body } = await this.sender.send({ method: 'PATCH', path, body: { calls_per_second: 1000 } });
    expect(body).toMatchObject({ calls_per_second: 1000, is_default: true });
  }

  async read(path: string): Promise<any> {
    const { status, body } = await this.sender.send({ method: 'GET', path });
    expect(status, `GET ${path}: ${JSON.stringify(body)}`).toBe(200);
    return body;
  }

  async post(path: string, body: object = {}): Promise<any> {
    const answer = await this.sender.send({ method: 'POST', path, body });
    expect([200, 201], `POST ${path}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
    return answer.body;
  }

  /** Uploads a file; answers its source_id. */
  async upload(csv: string): Promise<string> {
    const { upload_url: path, source_id: sourceId } = await this.post('/campaign/upload-url', { filename: 'people.csv' });
    const { status, body } = await this.sender.send({ method: 'PUT', path, body: csv, headers: { 'Content-Type': 'text/csv' } });
    expect(status, JSON.stringify(body)).toBe(200);
    return sourceId;
  }

  /** Creates a draft campaign without retries and with its circuit breaker off; returns its id. */
  async create(campaign: { name: string; source_type: string; source_id: string; max_concurrency: number }): Promise<number> {
    const settings = { retry_config: { enabled: false }, circuit_breaker: { enabled: false } };
    const { id, state } = await this.post('/campaign/create', { ...campaign, ...settings, workflow_id: this.agentId });
    expect(state).toBe('draft');
    return id;
  }

  async act(id: number, verb: 'start' | 'pause' | 'resume'): Promise<any> {
    return this.post(`/campaign/${id}/${verb}`);
  }

  async stateOf(id: number): Promise<string> {
    return (await this.read(`/campaign/${id}`)).state;
  }

  /** All rows, page by page. */
  async rowsOf(id: number): Promise<any[]> {
    const rows: any[] = [];
    for (;;) {
      const page = await this.read(`/campaign/${id}/runs?limit=${pageSize}&offset=${rows.length}`);
      rows.push(...page.runs);
      if (page.runs.length < pageSize) return rows;
    }
  }

  /** All runs of the agent, page by page. */
  async runs(): Promise<{ runs: any[]; total: number }> {
    const runs: any[] = [];
    for (;;) {
      const page = await this.read(`/workflow/${this.agentId}/runs?limit=${pageSize}&offset=${runs.length}`);
      runs.push(...page.runs);
      if (page.runs.length < pageSize) return { runs, total: page.total };
    }
  }

  /** Whether every call's talk is over and recorded. */
  async areSettled(): Promise<boolean> {
    return (await this.read(`/workflow/${this.agentId}/runs?is_completed=false&limit=1`)).total === 0;
  }

  get simulators(): string {
    return this.#service.simulators;
  }
}
