import { createRandom } from '../../test/support/vectors.ts';
import type { Bench } from '../bench.ts';
import { insertRows } from '../local/copy-rows.ts';
import { buildPassage } from '../long-texts.ts';
import { toPage, readQuestionSet, listSentences, setNames } from '../question-sets.ts';
import { KnowledgeBase } from './knowledge-base.ts';

const chunksPerDocument = 500;
/** About 350 tokens: a section is one chunk. */
const charactersPerChunk = 1300;
const rowsPerCopy = 500;

/** Adds documents whose sections become one chunk each, of sentences from the lists. Copies the rows to the other databases. */
export async function fillKnowledgeBase(bench: Bench, chunks: number): Promise<void> {
  const base = new KnowledgeBase(bench, bench.headers);
  const sentences = listSentences(setNames.map(readQuestionSet));
  const sizes = Array.from({ length: Math.ceil(chunks / chunksPerDocument) }, (_, document) =>
    Math.min(chunksPerDocument, chunks - document * chunksPerDocument),
  ).entries();
  const addDocuments = async () => {
    for (const [document, size] of sizes) {
      const random = createRandom(document + 1);
      const passages = Array.from({ length: size }, () => buildPassage(sentences, charactersPerChunk, random));
      const name = `notes-${document}`;
      const content = new TextEncoder().encode(toPage(name, passages));
      const made = await base.process(await base.upload({ filename: `${name}.html`, mimeType: 'text/html', content }));
      if (made !== size) throw new Error(`${size} sections became ${made} chunks`);
    }
  };
  // Two at once: while the model embeds one document, the service processes another.
  await Promise.all([addDocuments(), addDocuments()]);
  const { service, recording, floor } = bench.rig.databases;
  const { results: placements } = await service.prepare('SELECT * FROM vector_placement').all<Record<string, unknown>>();
  for (const database of [recording, floor]) await insertRows(database, 'vector_placement', placements);
  for (const table of ['knowledge_document', 'knowledge_chunk'])
    for (let last = 0; ;) {
      const { results } = await service
        .prepare(`SELECT * FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`)
        .bind(last, rowsPerCopy)
        .all<{ id: number }>();
      if (results.length === 0) break;
      for (const database of [recording, floor]) await insertRows(database, table, results);
      last = results.at(-1)!.id;
    }
}
