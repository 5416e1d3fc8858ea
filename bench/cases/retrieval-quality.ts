import type { Bench } from '../bench.ts';
import { findEntry, toPage, readQuestionSet, qualitySetNames, type AnsweredQuestion, type QuestionSet } from '../question-sets.ts';
import { PlainFts5 } from '../plain-fts5.ts';
import { maxRank, modes, measureQuality, type Mode, type Quality, type Retrieval } from '../retrieval.ts';
import { KnowledgeBase } from './knowledge-base.ts';

/** Each list in a knowledge base of its own, asked every question of it in every way. */
export async function measureRetrieval(bench: Bench): Promise<Retrieval[]> {
  const retrievals: Retrieval[] = [];
  for (const name of qualitySetNames) {
    bench.progress(`Questions of ${name}`);
    retrievals.push(await measureSet(bench, readQuestionSet(name)));
  }
  return retrievals;
}

async function measureSet(bench: Bench, set: QuestionSet): Promise<Retrieval> {
  const base = await KnowledgeBase.create(bench);
  const content = new TextEncoder().encode(
    toPage(
      set.name,
      set.entries.map(({ answer }) => answer),
    ),
  );
  const ticket = await base.upload({ filename: `${set.name}.html`, mimeType: 'text/html', content });
  const chunks = await base.process(ticket);
  const questions = set.entries.slice(0, bench.pace.questions);
  const qualities = {} as Record<Mode, ReturnType<typeof measureQuality>>;
  for (const mode of modes) {
    const places: (number | null)[] = [];
    for (const [entry, { question }] of questions.entries()) {
      const found = await base.search({ query: question, mode, limit: maxRank });
      const at = found.findIndex(({ chunk_metadata: { headings } }) => findEntry(headings) === entry);
      places.push(at === -1 ? null : at + 1);
    }
    qualities[mode] = measureQuality(places);
  }
  return { set: set.name, questions: questions.length, chunks, qualities, plain: measurePlain(await base.chunks(ticket), questions) };
}

/** The same questions asked of the same texts in plain FTS5. */
function measurePlain(chunks: Awaited<ReturnType<KnowledgeBase['chunks']>>, questions: AnsweredQuestion[]): Quality {
  const plain = new PlainFts5(chunks.map(({ contextualized_text: text }) => text));
  const places = questions.map(({ question }, entry) => {
    const at = plain.search(question, maxRank).findIndex((found) => findEntry(chunks[found]!.chunk_metadata.headings) === entry);
    return at === -1 ? null : at + 1;
  });
  plain.close();
  return measureQuality(places);
}
