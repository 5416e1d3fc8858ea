import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../../local/settings.ts';
import { describeDocument, handbook, readHandbook, type Document } from '../handbook.ts';
import type { Tour, TourStep } from '../step.ts';

interface Found {
  chunks: { chunk_text: string; chunk_metadata: { headings: string[] }; similarity: number }[];
}

const timeoutMs = 30_000;
const pollMs = 100;
const shownCharacters = 100;

export const uploadHandbook: TourStep = {
  title: `Upload a handbook, examples/${handbook.file}, and search it`,
  operation: 'POST /knowledge-base/process-document',
  async run(tour) {
    const { service, baseUrl, say, notes } = tour;
    const content = readHandbook();
    const known = await documentOf(tour, content);
    if (known) say(`"${known.filename}" was there with the same content: ${describeDocument(known)}`);
    const { document_uuid: uuid } = known ?? (await followed(tour, await uploaded(tour, content)));
    notes.write('handbook', { uuid });
    say(`${baseUrl}/knowledge-base/documents/${uuid}/chunks`);
    const { chunks } = await service.post<Found>('/knowledge-base/search', { query: handbook.question, limit: 1, document_uuids: [uuid] });
    say(`POST ${baseUrl}/knowledge-base/search finds for "${handbook.question}":`);
    for (const { chunk_text: text, chunk_metadata: about, similarity } of chunks)
      say(`  ${about.headings.join(' > ')}, similarity ${similarity.toFixed(2)}: "${beginningOf(text, about.headings)}"`);
    if (!chunks.some(({ chunk_text: text }) => handbook.answer.test(text)))
      throw new LocalError(`the search did not find what the handbook tells about "${handbook.question}"`);
  },
};

const beginningOf = (text: string, headings: string[]): string => {
  const lines = text.split('\n').filter((line) => !headings.includes(line));
  return lines.join(' ').trim().slice(0, shownCharacters);
};

/** That of an earlier tour; the same content again would be a duplicate. */
async function documentOf({ service }: Tour, content: string): Promise<Document | undefined> {
  const { documents } = await service.get<{ documents: Document[] }>('/knowledge-base/documents?status=completed&limit=500');
  const hash = createHash('sha256').update(content).digest('hex');
  return documents.find(({ file_hash }) => file_hash === hash);
}

async function uploaded({ service, say }: Tour, content: string): Promise<Document> {
  const ticket = await service.post<{ upload_url: string; document_uuid: string; storage_key: string }>('/knowledge-base/upload-url', {
    filename: handbook.file,
    mime_type: handbook.mimeType,
  });
  const upload = await service.call<unknown>('PUT', ticket.upload_url, content, { 'content-type': handbook.mimeType });
  if (upload.status !== 200) throw new LocalError(`the upload was answered ${upload.status} ${JSON.stringify(upload.body)}`);
  say(`${Buffer.byteLength(content)} bytes are uploaded to a signed URL, which needs no key`);
  const { document_uuid, storage_key } = ticket;
  return service.post<Document>('/knowledge-base/process-document', { document_uuid, storage_key });
}

/** Waits until search finds the document, and prints each of its states. */
async function followed({ service, terminal, say }: Tour, begun: Document): Promise<Document> {
  const startedAt = Date.now();
  terminal.begin('   It is read, cut into chunks and embedded');
  let printed = '';
  for (let document = begun; ; document = await service.get<Document>(`/knowledge-base/documents/${begun.document_uuid}`)) {
    const words = describeDocument(document);
    if (words !== printed) say(`${((Date.now() - startedAt) / 1000).toFixed(1)} s  ${words}`);
    printed = words;
    if (document.processing_status === 'completed') {
      terminal.end();
      return document;
    }
    if (document.processing_status === 'failed' || Date.now() > startedAt + timeoutMs) throw new LocalError(`the document is ${words}`);
    await sleep(pollMs);
  }
}
