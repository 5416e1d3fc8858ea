import { createExecutionContext, createMessageBatch, getQueueResult, waitOnExecutionContext } from 'cloudflare:test';
import { env, exports } from 'cloudflare:workers';
import { vi } from 'vitest';
import { createApp } from '../../src/app.ts';
import { consumeBatch } from '../../src/queues/consume.ts';
import { simulatorsUrl } from '../support/carrier.ts';
import { waitForVectors } from '../support/vector-backend.ts';
import { Client, newOrganization, type Answer, type NewOrganization } from '../support/organization.ts';

const app = createApp();
const maxTries = 5;

/** A message on its way, and how often it was tried. */
export interface Waiting {
  queue: string;
  body: any;
  tries: number;
  delaySeconds: number;
}

/** What a step does to its message: nothing is left of it, or it comes again. */
export type Settled = { retriedAfter: number } | 'done';

/** PUTs bytes to an absolute URL without credentials. */
export async function put(url: string, file: BodyInit | null, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await exports.default.fetch(new Request(url, { method: 'PUT', body: file, headers }));
  return { status: answer.status, body: await answer.json(), headers: answer.headers };
}

/** A file, and what it is called. */
export interface File {
  content: BodyInit;
  filename?: string;
  mimeType?: string;
}

/**
 * The service with the queues of documents in the test's hands: nothing happens to a document but by `step` and `work`. Embeddings come from the
 * simulated provider.
 */
export async function knowledgeService(options: NewOrganization & { bindings?: Record<string, unknown> } = {}) {
  const messages: Waiting[] = [];
  const queueNamed = (queue: string) => ({
    send: async (body: unknown, more?: { delaySeconds?: number }) =>
      void messages.push({ queue, body: structuredClone(body), tries: 0, delaySeconds: more?.delaySeconds ?? 0 }),
  });
  const bindings = {
    ...env,
    OPENAI_BASE_URL: `${simulatorsUrl}/openai/v1`,
    DOCUMENTS_QUEUE: queueNamed('documents'),
    LARGE_DOCUMENTS_QUEUE: queueNamed('documents-large'),
    ...options.bindings,
  } as unknown as Env;
  const send = async (request: Request) => {
    const execution = createExecutionContext();
    const answer = await app.fetch(request, bindings, execution);
    await waitOnExecutionContext(execution);
    return answer;
  };
  const organization = await newOrganization(options);
  const client = new Client(organization.key, send);

  /** Hands a message over once; `using` are the bindings of an isolate that may die. */
  const deliver = async (message: Waiting, using: Env = bindings): Promise<Settled> => {
    message.tries += 1;
    const one = { id: crypto.randomUUID(), timestamp: new Date(), attempts: message.tries, body: message.body };
    const batch = createMessageBatch(message.queue, [one]);
    const retry = vi.spyOn(batch.messages[0]!, 'retry');
    const execution = createExecutionContext();
    await consumeBatch(batch, using, execution);
    await waitOnExecutionContext(execution);
    const { retryMessages } = await getQueueResult(batch, execution);
    return retryMessages.length > 0 ? { retriedAfter: retry.mock.calls[0]?.[0]?.delaySeconds ?? 0 } : 'done';
  };

  /** Takes the message that waits longest: what became of it, undefined: none waits. After its last try it goes to the dead ones. */
  const step = async (using: Env = bindings): Promise<Settled | undefined> => {
    const message = messages.shift();
    if (!message) return undefined;
    // Nobody waits in a test: by then an index shows what it has taken.
    if (message.delaySeconds > 0) await waitForVectors();
    const settled = await deliver(message, using);
    if (settled === 'done') return settled;
    messages.push(message.tries > maxTries ? { ...message, queue: 'documents-dead', tries: 0 } : message);
    return settled;
  };

  /** Until nothing waits. */
  const work = async (): Promise<void> => {
    for (let steps = 0; await step(); steps++) if (steps > 500) throw new Error(`messages without end: ${JSON.stringify(messages[0])}`);
  };

  /** Asks for an upload URL and PUTs the file there. */
  const upload = async ({ content, filename = 'handbook.md', mimeType = 'text/markdown' }: File) => {
    const ticket = await client.post('/knowledge-base/upload-url', { filename, mime_type: mimeType });
    if (ticket.status !== 200) throw new Error(`no ticket: ${ticket.status} ${JSON.stringify(ticket.body)}`);
    const answer = await put(ticket.body.upload_url, content);
    if (answer.status !== 200) throw new Error(`no upload: ${answer.status} ${JSON.stringify(answer.body)}`);
    const { document_uuid, storage_key } = ticket.body;
    return { document_uuid, storage_key } as { document_uuid: string; storage_key: string };
  };

  /** Uploads a file and has it processed; nothing of that has happened yet. Answers its uuid. */
  const begin = async (file: File): Promise<string> => {
    const uploaded = await upload(file);
    const { status, body } = await client.post('/knowledge-base/process-document', uploaded);
    if (status !== 200) throw new Error(`not begun: ${status} ${JSON.stringify(body)}`);
    return uploaded.document_uuid;
  };

  /** A document that has been processed to its end: its record. */
  const process = async (file: File): Promise<any> => {
    const uuid = await begin(file);
    await work();
    return documentOf(uuid);
  };

  const documentOf = async (uuid: string): Promise<any> => (await client.get(`/knowledge-base/documents/${uuid}`)).body;
  const search = async (query: string, more: Record<string, unknown> = {}): Promise<any[]> => {
    const { status, body } = await client.post('/knowledge-base/search', { query, ...more });
    if (status !== 200) throw new Error(`no search: ${status} ${JSON.stringify(body)}`);
    return body.chunks;
  };
  return { ...organization, client, bindings, messages, deliver, step, work, upload, begin, process, documentOf, search };
}

export type KnowledgeService = Awaited<ReturnType<typeof knowledgeService>>;

/** Rows of a document's chunks, of every generation. */
export const chunkRows = async (organizationId: number): Promise<{ id: number; generation: number; embedding_model: string | null }[]> =>
  (
    await env.DB.prepare('SELECT id, generation, embedding_model FROM knowledge_chunk WHERE organization_id = ? ORDER BY id')
      .bind(organizationId)
      .all<{ id: number; generation: number; embedding_model: string | null }>()
  ).results;

/** Ids that the words of the organization's chunks are found by. */
export const indexedByWords = async (organizationId: number): Promise<number[]> =>
  (
    await env.DB.prepare('SELECT rowid AS id FROM knowledge_chunk_search WHERE knowledge_chunk_search MATCH ? ORDER BY rowid')
      .bind(`scope : organization${organizationId}`)
      .all<{ id: number }>()
  ).results.map(({ id }) => id);

export const handbook = (word = 'of the shop') => `# Returns handbook ${word}

## Refund window

Customers may return any unopened item within 45 days of delivery. Refunds reach the original payment method in five business days.

## Warranty on kettles

The Model K-200 kettle carries a three year warranty. Limescale damage is not covered.

## Opening hours

The Lisbon shop opens at 10:00 and closes at 19:00, Monday to Saturday.
`;

/** A document of about `sections` chunks. */
export const longText = (sections: number, about = 'gadget'): string =>
  Array.from(
    { length: sections },
    (_, section) =>
      `## Part ${section} of the ${about} manual\n\nThe ${about} number ${section} has code ${about.toUpperCase()}-${1000 + section} and lasts ${section + 2} years.\n`,
  ).join('\n');
