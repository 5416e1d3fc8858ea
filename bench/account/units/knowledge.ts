import { createRandom } from '../../../test/support/vectors.ts';
import type { Bench } from '../../bench.ts';
import { KnowledgeBase } from '../../cases/knowledge-base.ts';
import { buildPassage } from '../../long-texts.ts';
import { listSentences, readQuestionSet, setNames, toPage } from '../../question-sets.ts';
import type { Unit } from '../account.ts';

const chunks = 100;
const searchedDocuments = 4;
const charactersPerChunk = 1300;

/** Searches, and documents that come in. */
export async function knowledgeUnits(bench: Bench): Promise<Unit[]> {
  const base = new KnowledgeBase(bench, bench.headers);
  const sentences = listSentences(setNames.map(readQuestionSet));
  let made = 0;
  const add = async () => {
    const random = createRandom(++made);
    const passages = Array.from({ length: chunks }, () => buildPassage(sentences, charactersPerChunk, random));
    const content = new TextEncoder().encode(toPage(`notes-${made}`, passages));
    const count = await base.processUnwatched(await base.upload({ filename: `notes-${made}.html`, mimeType: 'text/html', content }));
    if (count !== chunks) throw new Error(`${chunks} sections became ${count} chunks`);
  };
  for (let document = 0; document < searchedDocuments; document++) await add();
  const question = 'How do I convert a string to a number?';
  return [
    {
      name: `A search in a knowledge base of ${searchedDocuments * chunks} chunks`,
      work: () => base.search({ query: question, limit: 5 }),
    },
    { name: `A document of ${chunks} chunks, from upload to searchable`, work: add },
  ];
}
