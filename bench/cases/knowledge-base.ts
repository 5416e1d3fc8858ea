import { setTimeout as sleep } from 'node:timers/promises';
import { createDemoOrganization } from '../../scripts/local/demo-organization.ts';
import type { Bench } from '../bench.ts';
import { waitUntil } from './campaigns.ts';

interface DocumentFile {
  filename: string;
  mimeType: string;
  content: Uint8Array;
}

interface Ticket {
  upload_url: string;
  document_uuid: string;
  storage_key: string;
}

/** The fields of a document's record that the benchmark reads. */
interface Standing {
  processing_status: 'pending' | 'processing' | 'completed' | 'failed';
  processing_error: string | null;
  total_chunks: number;
}

interface Page {
  chunks: { contextualized_text: string; chunk_metadata: { headings: string[] } }[];
  next_cursor: string | null;
}

interface Found {
  chunk_metadata: { headings: string[] };
  similarity: number;
}

const limitMs = 120_000;
const pollMs = 25;
const findDocument = 'SELECT id FROM knowledge_document WHERE uuid = ?';
const documentIsDue = 'SELECT count(*) FROM knowledge_document WHERE uuid = ? AND due_at IS NOT NULL';

/** The documents of an organization of the service that has no others. */
export class KnowledgeBase {
  readonly #bench: Bench;
  readonly #headers: Record<string, string>;

  constructor(bench: Bench, headers: Record<string, string>) {
    this.#bench = bench;
    this.#headers = headers;
  }

  static async create(bench: Bench): Promise<KnowledgeBase> {
    const key = await createDemoOrganization(`${bench.rig.origins.service.origin}/api/v1`, { hasSimulatedCarrier: false });
    return new KnowledgeBase(bench, { 'x-api-key': key });
  }

  async upload({ filename, mimeType, content }: DocumentFile): Promise<Ticket> {
    const ticket = await this.#post<Ticket>('upload-url', { filename, mime_type: mimeType });
    const { pathname, search } = new URL(ticket.upload_url);
    const response = await fetch(this.#bench.rig.origins.service.origin + pathname + search, { method: 'PUT', body: content });
    if (!response.ok) throw new Error(`The upload of ${filename} answered ${response.status}: ${await response.text()}`);
    return ticket;
  }

  /** Processes an uploaded file; returns its number of chunks once they can be found. */
  async process(ticket: Ticket): Promise<number> {
    await this.#begin(ticket);
    const startedAt = Date.now();
    for (;;) {
      const { processing_status: status, processing_error: error, total_chunks: chunks } = await this.#read(ticket);
      if (status === 'completed') return chunks;
      if (status === 'failed') throw new Error(`The document failed: ${error}`);
      if (Date.now() - startedAt > limitMs) throw new Error(`The document is ${status} after ${limitMs / 1000} s (${error})`);
      await sleep(pollMs);
    }
  }

  /** The chunks of a processed document, in its order. */
  async chunks({ document_uuid: uuid }: Ticket): Promise<Page['chunks']> {
    const all: Page['chunks'] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path = `/api/v1/knowledge-base/documents/${uuid}/chunks?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
      const page: Page = await this.#bench.clients.service.json<Page>({ method: 'GET', path, headers: this.#headers });
      all.push(...page.chunks);
      cursor = page.next_cursor;
    }
    return all;
  }

  /** Processes an uploaded file as `process` does, but looks into the database, which the service does not notice. */
  async processUnwatched(ticket: Ticket): Promise<number> {
    await this.#begin(ticket);
    const isCompleted = "SELECT status = 'completed' AND due_at IS NULL FROM knowledge_document WHERE uuid = ?";
    await waitUntil('the document is completed', limitMs, async () => (await this.#first(isCompleted, ticket)) === 1, pollMs);
    return this.#first('SELECT total_chunks FROM knowledge_document WHERE uuid = ?', ticket);
  }

  /** Has an uploaded file read and cut, until the first of its chunks are stored. */
  async cut(ticket: Ticket): Promise<void> {
    await this.#begin(ticket);
    const chunks = `SELECT EXISTS (SELECT 1 FROM knowledge_chunk WHERE document_id = (${findDocument}))`;
    await waitUntil('chunks are stored', limitMs, async () => (await this.#first(chunks, ticket)) === 1, pollMs);
  }

  /** Deletes a document, and waits until nothing is left of it. */
  async remove(ticket: Ticket): Promise<void> {
    const path = `/api/v1/knowledge-base/documents/${ticket.document_uuid}`;
    await this.#bench.clients.service.call({ method: 'DELETE', path, headers: this.#headers });
    await waitUntil('the document is cleared away', limitMs, async () => (await this.#first(documentIsDue, ticket)) === 0, pollMs);
  }

  async search(body: object): Promise<Found[]> {
    return (await this.#post<{ chunks: Found[] }>('search', body)).chunks;
  }

  #begin({ document_uuid, storage_key }: Ticket): Promise<unknown> {
    return this.#post('process-document', { document_uuid, storage_key });
  }

  #read({ document_uuid: uuid }: Ticket): Promise<Standing> {
    return this.#bench.clients.service.json({ method: 'GET', path: `/api/v1/knowledge-base/documents/${uuid}`, headers: this.#headers });
  }

  /** The first column of a query with the document's uuid. */
  async #first(sql: string, { document_uuid: uuid }: Ticket): Promise<number> {
    const rows = await this.#bench.rig.databases.service.prepare(sql).bind(uuid).raw<[number]>();
    return rows[0]![0];
  }

  #post<Answer>(path: string, body: object): Promise<Answer> {
    const { service } = this.#bench.clients;
    return service.json({ method: 'POST', path: `/api/v1/knowledge-base/${path}`, headers: this.#headers, body: JSON.stringify(body) });
  }
}
