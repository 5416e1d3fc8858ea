import { measureAlternately, type Bench } from '../bench.ts';
import { Client } from '../load.ts';
import { startVectorRig, type VectorRig } from '../local/vector-rig.ts';
import { measureRecall } from '../retrieval.ts';
import type { TargetedFigure } from '../targets.ts';

/** Numbers of vectors, each with the number of questions in one timed request. */
const sizes = [
  { vectors: 1000, questionsARequest: 200 },
  { vectors: 20_000, questionsARequest: 10 },
];
const questions = 400;
const sides = ['index', 'scan'] as const;
type Side = (typeof sides)[number];

/** The embedded index beside a plain scan of the same vectors, both in one isolate that has nothing else to do. */
export async function measureVectorIndex(bench: Bench): Promise<TargetedFigure[]> {
  const rig = await startVectorRig(bench.rig.compatibilityDate);
  const client = new Client(rig.origin, 1);
  try {
    const figures: TargetedFigure[] = [];
    for (const size of sizes) figures.push(...(await measureSize(bench, rig, client, size)));
    return figures;
  } finally {
    client.close();
    await rig.stop();
  }
}

async function measureSize(
  { progress, pace }: Bench,
  { inspector }: VectorRig,
  client: Client,
  { vectors, questionsARequest }: (typeof sizes)[number],
): Promise<TargetedFigure[]> {
  progress(`An index of ${vectors} vectors`);
  const ask = (side: Side, from: number, count: number) =>
    client.json<number[][]>({ method: 'GET', path: `/${side}?vectors=${vectors}&from=${from}&questions=${count}` });
  const fill = (side: Side) => client.call({ method: 'GET', path: `/${side}/fill?vectors=${vectors}&questions=${questions}` });
  const usedBytes = () => inspector.usedBytes(() => client.call({ method: 'GET', path: '/idle' }));

  const before = await usedBytes();
  await fill('index');
  const megabytes = ((await usedBytes()) - before) / 1e6;
  await fill('scan');
  const asked = Math.min(questions, pace.vectorQuestions);
  const recall = measureRecall(await ask('index', 0, asked), await ask('scan', 0, asked));

  const milliseconds = await measureAlternately(pace.vectorRounds, sides, async (side, round) => {
    const startedAt = performance.now();
    await ask(side, (round * questionsARequest) % questions, questionsARequest);
    return (performance.now() - startedAt) / questionsARequest;
  });
  const floorDoes = 'multiplies the question with each vector as floats in memory, four at a time';
  const of = `${vectors} vectors in the embedded index`;
  return [
    { name: `${of}: share of the true ten nearest, ${asked} questions`, unit: '', target: { atLeast: 0.99 }, service: [recall] },
    { name: `${of}: a question`, unit: 'ms', service: milliseconds.index, floor: milliseconds.scan, floorDoes },
    {
      name: `${of}: times of the floor for a question`,
      unit: '',
      target: { atMost: 1.3 },
      service: milliseconds.index.map((ours, round) => ours / milliseconds.scan[round]!),
    },
    { name: `${of}: objects and buffers of the isolate`, unit: 'MB', target: { atMost: 60 }, service: [megabytes] },
  ];
}
