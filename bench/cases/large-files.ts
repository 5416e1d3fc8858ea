import { endBench, prepareBench, type Bench } from '../bench.ts';
import { createReportWithPictures, createCsv } from '../documents.ts';
import { Inspector } from '../inspector.ts';
import { measureGrowth, measureHeap } from '../local/memory.ts';
import type { TargetedFigure } from '../targets.ts';
import { KnowledgeBase } from './knowledge-base.ts';

const pages = 100;
const mebibyte = 1 << 20;
/** What a file of 25 MiB may take. The heap has what the file leaves of that, and some room for what V8 keeps free. */
const maxMegabytes = 100;
const heapMegabytes = 76;

/**
 * Processes files of the largest allowed size in a service whose isolate has only as much heap as the limit leaves: a table until it is cut into
 * chunks, of which it has too many, and a PDF with pictures to its end. A file that needs more memory ends the run.
 */
export async function measureLargeFiles({ pace, progress }: Bench, sentences: string[]): Promise<TargetedFigure[]> {
  const { largeFileMebibytes: mebibytes } = pace;
  progress(`Files of ${mebibytes} MiB, in a service with a heap of ${heapMegabytes} MB`);
  const small = await prepareBench(pace, progress, { isInspected: true, heapMegabytes });
  const inspector = await Inspector.attach(small.rig.inspector!, 'core:user:service');
  try {
    const base = await KnowledgeBase.create(small);
    const csv = await base.upload({ filename: 'orders.csv', mimeType: 'text/csv', content: createCsv(sentences, mebibytes * mebibyte) });
    const ofCsv = await measureMemory(inspector, () => base.cut(csv));
    await base.remove(csv);
    const content = createReportWithPictures(sentences, pages, mebibytes * mebibyte);
    const pdf = await base.upload({ filename: 'report.pdf', mimeType: 'application/pdf', content });
    const ofPdf = await measureMemory(inspector, () => base.process(pdf));
    return [
      ...toFigures(`A CSV file of ${mebibytes} MiB, until it is cut into chunks`, ofCsv),
      ...toFigures(`A PDF of ${mebibytes} MiB, ${pages} pages and pictures, until it is completed`, ofPdf),
    ];
  } finally {
    inspector.close();
    await endBench(small);
  }
}

interface Memory {
  /** The most memory that the isolate held, in MB. */
  held: number;
  /** MB by which workerd grew, at the most. */
  growth: number;
}

async function measureMemory(inspector: Inspector, work: () => Promise<unknown>): Promise<Memory> {
  let held = 0;
  const growth = await measureGrowth(async () => (held = await measureHeap(inspector, work)));
  return { held, growth };
}

const toFigures = (what: string, { held, growth }: Memory): TargetedFigure[] => [
  { name: `${what}: heap and buffers of the isolate, at the most`, unit: 'MB', target: { atMost: maxMegabytes }, service: [held] },
  { name: `${what}: the most that workerd grew`, unit: 'MB', service: [growth] },
];
