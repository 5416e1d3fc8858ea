import { endBench, prepareBench, type Bench } from '../bench.ts';
import { reportWithPictures, tableOf } from '../documents.ts';
import { Inspector } from '../inspector.ts';
import { growthDuring, heldDuring } from '../local/memory.ts';
import type { Targeted } from '../targets.ts';
import { KnowledgeBase } from './knowledge-base.ts';

const pages = 100;
const mebibyte = 1 << 20;
/** What a file of 25 MiB may take. The heap has what the file leaves of that, and some room for what V8 keeps free. */
const mostMegabytes = 100;
const heapMegabytes = 80;

/**
 * Files as large as may be uploaded, in a service whose isolate has no more heap than the bound leaves: a table until it is cut into chunks, of
 * which it has too many, and a PDF with pictures to its end. A file that needs more ends the run.
 */
export async function measureLargeFiles({ pace, progress }: Bench, sentences: string[]): Promise<Targeted[]> {
  const { largeFileMebibytes: mebibytes } = pace;
  progress(`Files of ${mebibytes} MiB, in a service with a heap of ${heapMegabytes} MB`);
  const small = await prepareBench(pace, progress, { isInspected: true, heapMegabytes });
  const inspector = await Inspector.attach(small.rig.inspector!, 'core:user:service');
  try {
    const base = await KnowledgeBase.create(small);
    const csv = await base.upload({ filename: 'orders.csv', mimeType: 'text/csv', content: tableOf(sentences, mebibytes * mebibyte) });
    const ofCsv = await memoryOf(inspector, () => base.cut(csv));
    await base.remove(csv);
    const content = reportWithPictures(sentences, pages, mebibytes * mebibyte);
    const pdf = await base.upload({ filename: 'report.pdf', mimeType: 'application/pdf', content });
    const ofPdf = await memoryOf(inspector, () => base.process(pdf));
    return [
      ...figuresOf(`A CSV file of ${mebibytes} MiB, until it is cut into chunks`, ofCsv),
      ...figuresOf(`A PDF of ${mebibytes} MiB, ${pages} pages and pictures, until it is completed`, ofPdf),
    ];
  } finally {
    inspector.close();
    await endBench(small);
  }
}

interface Memory {
  /** MB of the isolate, at the most. */
  held: number;
  /** MB by which workerd grew, at the most. */
  growth: number;
}

async function memoryOf(inspector: Inspector, work: () => Promise<unknown>): Promise<Memory> {
  let held = 0;
  const growth = await growthDuring(async () => (held = await heldDuring(inspector, work)));
  return { held, growth };
}

const figuresOf = (what: string, { held, growth }: Memory): Targeted[] => [
  { name: `${what}: heap and buffers of the isolate, at the most`, unit: 'MB', target: { atMost: mostMegabytes }, service: [held] },
  { name: `${what}: the most that workerd grew`, unit: 'MB', service: [growth] },
];
