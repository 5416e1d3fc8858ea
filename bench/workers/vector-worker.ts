import { VectorIndexObject } from '../../durable-objects/vector-index/vector-index-object.ts';
import { dimensions, mixedVectors, randomVectorNear, createRandom } from '../../test/support/vectors.ts';
import { FloatScanObject } from './float-scan-object.ts';

export { FloatScanObject } from './float-scan-object.ts';

// The embedded index beside a plain scan over floats, each an object that is asked many questions at a time, since no clock runs inside.

const vectorsPerUpsert = 1000;
const most = 10;

interface Bindings {
  INDEX: DurableObjectNamespace<MeasuredIndexObject>;
  SCAN: DurableObjectNamespace<FloatScanObject>;
}

/** The index of the service. Ids are positions from 1 on. */
export class MeasuredIndexObject extends VectorIndexObject {
  fill(count: number): void {
    const vectors = toVectors(count);
    for (let from = 0; from < count; from += vectorsPerUpsert) {
      const part = vectors.slice(from, from + vectorsPerUpsert);
      const ids = part.map((_, position) => from + position + 1);
      this.upsert(
        ids,
        ids.map(() => 1),
        joined(part),
      );
    }
  }

  /** The ids of the ten nearest to each question. */
  answer(questions: Float32Array): number[][] {
    return split(questions).map((question) => this.query(question, most).map(({ id }) => id));
  }
}

/** The same vectors every time. */
const toVectors = (count: number): Float32Array[] => mixedVectors(count, createRandom(count));

function joined(vectors: Float32Array[]): Float32Array {
  const all = new Float32Array(vectors.length * dimensions);
  for (const [position, vector] of vectors.entries()) all.set(vector, position * dimensions);
  return all;
}

const split = (all: Float32Array): Float32Array[] =>
  Array.from({ length: all.length / dimensions }, (_, position) => all.slice(position * dimensions, (position + 1) * dimensions));

/** Prepared questions, by the number of vectors in the index. */
const toQuestions = new Map<number, Float32Array>();

export default {
  async fetch(request, { INDEX, SCAN }) {
    const { pathname, searchParams } = new URL(request.url);
    const number = (name: string) => Number(searchParams.get(name));
    const count = number('vectors');
    const [index, scan] = [INDEX.getByName(String(count)), SCAN.getByName(String(count))];
    const questions = () => toQuestions.get(count)!.slice(number('from') * dimensions, (number('from') + number('questions')) * dimensions);
    switch (pathname) {
      case '/idle':
        return Response.json(null);
      case '/index/fill':
        await index.fill(count);
        return Response.json(null);
      case '/scan/fill': {
        const vectors = toVectors(count);
        const random = createRandom(count + 1);
        const near = Array.from({ length: number('questions') }, () => randomVectorNear(vectors[Math.floor(random() * count)]!, 1, random));
        toQuestions.set(count, joined(near));
        for (let from = 0; from < count; from += vectorsPerUpsert) await scan.add(joined(vectors.slice(from, from + vectorsPerUpsert)));
        return Response.json(null);
      }
      case '/index':
        return Response.json(await index.answer(questions()));
      case '/scan':
        return Response.json(await scan.answer(questions(), most));
      default:
        return new Response(null, { status: 404 });
    }
  },
} satisfies ExportedHandler<Bindings>;
