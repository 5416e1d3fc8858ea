import type { Bench } from '../bench.ts';
import { findEntry, toPage, readQuestionSet, setNames, type QuestionSet } from '../question-sets.ts';
import { maxRank, modes, measureQuality, type Mode, type Retrieval } from '../retrieval.ts';
import { KnowledgeBase } from './knowledge-base.ts';

/** Each list in a knowledge base of its own, asked every question of it in every way. */
export async function measureRetrieval(bench: Bench): Promise<Retrieval[]> {
  const retrievals: Retrieval[] = [];
  for (const name of setNames) {
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
  const chunks = await base.process(await base.upload({ filename: `${set.name}.html`, mimeType: 'text/html', content }));
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
  return { set: set.name, questions: questions.length, chunks, qualities };
}
