import { createRandom, mixedVectors, randomVectorNear } from '../../test/support/vectors.ts';
import { measureAlternately, type Bench } from '../bench.ts';
import { Client } from '../load.ts';
import { startVectorRig } from '../local/vector-rig.ts';
import type { NearestSearch } from '../peers/vector-search.ts';
import { measureRecall } from '../retrieval.ts';
import type { TargetedFigure } from '../targets.ts';

const nearest = 10;
const questionsARound = 10;

/** The embedded index beside another program's search of the same vectors by the same questions. */
export async function measurePeerVectors(
  bench: Bench,
  name: string,
  build: (vectors: Float32Array[]) => NearestSearch,
): Promise<TargetedFigure[]> {
  const { peerVectors: count, vectorQuestions: questions, rounds } = bench.pace;
  bench.progress(`${count} vectors, beside ${name}`);
  const vectors = mixedVectors(count, createRandom(count));
  // Before the connection, which ends while this program is busy for long.
  const search = build(vectors);
  const rig = await startVectorRig(bench.rig.compatibilityDate);
  const client = new Client(rig.origin, 1);
  const get = <Answer>(path: string) => client.json<Answer>({ method: 'GET', path: `${path}&vectors=${count}` });
  const ours = (from: number, many: number) => get<number[][]>(`/index?from=${from}&questions=${many}`);
  try {
    await get('/index/fill?');
    await get(`/scan/fill?questions=${questions}`);
    const random = createRandom(count + 1);
    const asked = Array.from({ length: questions }, () => randomVectorNear(vectors[Math.floor(random() * count)]!, 1, random));
    const theirs = (from: number, many: number) => asked.slice(from, from + many).map((question) => search(question, nearest));
    const truth = await get<number[][]>(`/scan?from=0&questions=${questions}`);
    const recall = { service: measureRecall(await ours(0, questions), truth), peer: measureRecall(theirs(0, questions), truth) };
    const milliseconds = await measureAlternately(rounds, ['service', 'peer'] as const, async (side, round) => {
      const from = (round * questionsARound) % (questions - questionsARound);
      const startedAt = performance.now();
      await (side === 'service' ? ours : theirs)(from, questionsARound);
      return (performance.now() - startedAt) / questionsARound;
    });
    const of = `${count} vectors beside ${name}`;
    const floorDoes = `${name} in Node, which keeps the vectors as floats`;
    return [
      { name: `${of}: a question`, unit: 'ms', service: milliseconds.service, floor: milliseconds.peer, floorDoes },
      { name: `${of}: share of the true ten nearest`, unit: '', service: [recall.service], floor: [recall.peer], floorDoes },
    ];
  } finally {
    client.close();
    await rig.stop();
  }
}
