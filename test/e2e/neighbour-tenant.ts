import { createDemoOrganization } from '../../scripts/local/demo-organization.ts';
import type { Answer, Call, KillableService } from './killable-service.ts';

type Node = { id: string; type: string; data?: object };

/** From a trigger through `nodes`, one after the other, to an exit. */
export function chainNodes(...nodes: Node[]) {
  const all = [{ id: 'in', type: 'trigger' }, ...nodes, { id: 'out', type: 'exit', data: { outcome: 'done' } }];
  return {
    nodes: all.map((node) => ({ data: {}, ...node })),
    edges: all.slice(1).map(({ id }, index) => ({ id: `e${index}`, source: all[index]!.id, target: id })),
  };
}

interface Journey {
  name: string;
  definition?: object;
  trigger?: object;
  context_schema?: object;
}

/** One organization of the service, with a key of its own. */
export class Tenant {
  readonly #service: KillableService;
  readonly #apiKey: string;

  private constructor(service: KillableService, apiKey: string) {
    this.#service = service;
    this.#apiKey = apiKey;
  }

  static async create(service: KillableService): Promise<Tenant> {
    return new Tenant(service, await createDemoOrganization(service.baseUrl, { hasSimulatedCarrier: false }));
  }

  call({ headers, ...call }: Call): Promise<Answer> {
    return this.#service.call({ ...call, headers: { 'X-API-Key': this.#apiKey, ...headers } });
  }

  /** Returns the body of the answer; throws unless the status is 2xx. */
  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<any> {
    return this.#succeed({ method: 'POST', path, body, headers });
  }

  async get(path: string): Promise<any> {
    return this.#succeed({ method: 'GET', path });
  }

  async #succeed(call: Call): Promise<any> {
    const { status, body } = await this.call(call);
    if (status < 200 || status > 299) throw new Error(`${call.method} ${call.path} answered ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Creates and activates a journey; returns its id. */
  async activate(journey: Journey): Promise<number> {
    const { id } = await this.post('/automation-workflows/', { definition: chainNodes(), ...journey });
    await this.setStatus(id, 'active');
    return id;
  }

  async setStatus(workflowId: number, status: string): Promise<void> {
    await this.#succeed({ method: 'PATCH', path: `/automation-workflows/${workflowId}`, body: { status } });
  }

  async webhookOf(workflowId: number): Promise<string> {
    return (await this.get(`/automation-workflows/${workflowId}/triggers`)).triggers[0].webhook_url;
  }

  /** Uploads a file and has it processed; answers the document's id. */
  async addDocument(filename: string, mimeType: string, content: Uint8Array | string): Promise<string> {
    const ticket = await this.post('/knowledge-base/upload-url', { filename, mime_type: mimeType });
    const { pathname, search } = new URL(ticket.upload_url);
    const sent = await fetch(new URL(pathname + search, this.#service.baseUrl), { method: 'PUT', body: content as BodyInit });
    if (!sent.ok) throw new Error(`the upload of ${filename} answered ${sent.status} ${await sent.text()}`);
    const { document_uuid, storage_key } = ticket;
    await this.post('/knowledge-base/process-document', { document_uuid, storage_key });
    return document_uuid;
  }
}
