import { measureAlternately, bothSides, type Bench } from '../bench.ts';
import { createReport } from '../documents.ts';
import { measureGrowth } from '../local/memory.ts';
import { readQuestionSet, listSentences, setNames } from '../question-sets.ts';
import type { TargetedFigure } from '../targets.ts';
import { KnowledgeBase } from './knowledge-base.ts';
import { measureLargeFiles } from './large-files.ts';

const pages = 100;

/** From process-document to completed, without the time that the model takes, and how much memory files take. */
export async function measurePdf(bench: Bench): Promise<TargetedFigure[]> {
  const base = await KnowledgeBase.create(bench);
  const sentences = listSentences(setNames.map(readQuestionSet));
  return [...(await measurePages(bench, base, sentences)), ...(await measureLargeFiles(bench, sentences))];
}

async function measurePages(bench: Bench, base: KnowledgeBase, sentences: string[]): Promise<TargetedFigure[]> {
  bench.progress(`PDFs of ${pages} pages`);
  const megabytes: number[] = [];
  let chunks = 0;
  const seconds = await measureAlternately(bench.pace.pdfRounds, bothSides, async (side, round) => {
    const content = createReport(sentences, pages, round + 1);
    if (side === 'floor') return secondsOf(bench, () => readByFloor(bench, content));
    const ticket = await base.upload({ filename: `report-${round}.pdf`, mimeType: 'application/pdf', content });
    let taken = 0;
    const growth = await measureGrowth(async () => {
      taken = await secondsOf(bench, async () => (chunks = await base.process(ticket)));
    });
    if (round > 0) megabytes.push(growth);
    return taken;
  });
  const name = `A PDF of ${pages} pages, about ${chunks} chunks`;
  return [
    {
      name: `${name}: from process-document to completed, model time excluded`,
      unit: 's',
      ...seconds,
      floorDoes: 'reads the text by the same library and keeps nothing',
    },
    { name: `${name}: the most that workerd grew meanwhile`, unit: 'MB', service: megabytes },
  ];
}

/** How many seconds the work takes without the model's time. */
async function secondsOf({ rig }: Bench, work: () => Promise<unknown>): Promise<number> {
  const { embeddingMs } = rig.model;
  embeddingMs.length = 0;
  const startedAt = performance.now();
  await work();
  const milliseconds = performance.now() - startedAt - embeddingMs.reduce((sum, each) => sum + each, 0);
  return milliseconds / 1000;
}

async function readByFloor({ rig }: Bench, body: Uint8Array<ArrayBuffer>): Promise<void> {
  const response = await fetch(new URL('/pdf', rig.origins.floor), { method: 'POST', body });
  if (!response.ok) throw new Error(`The floor answered ${response.status} to a PDF: ${await response.text()}`);
}
