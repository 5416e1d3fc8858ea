import { isRecord } from '../../library/json/json.ts';
import { dimensions } from '../vector-index/vector-limits.ts';
import type { EmbeddingFailure } from './contract.ts';

/** The vectors of an answer in the order of its `count` texts, or the failure of an invalid answer. Services that copy the API differ in details. */
export function readVectors(answer: unknown, count: number, model: string): { vectors: Float32Array[]; tokens: number } | EmbeddingFailure {
  const { data, usage } = isRecord(answer) ? answer : {};
  if (!Array.isArray(data) || data.length !== count)
    return invalidAnswer(`The provider of ${model} answered ${Array.isArray(data) ? data.length : 'no'} vectors to ${count} texts`);
  const byIndex = new Map<unknown, Float32Array>();
  for (const [position, entry] of data.entries()) {
    const { embedding, index = position } = isRecord(entry) ? entry : {};
    const vector = decodeVector(embedding);
    if (vector?.length !== dimensions)
      return invalidAnswer(
        `${model} makes vectors of ${vector?.length ?? 'no'} numbers and ${dimensions} are needed; set EMBEDDING_MODEL to a model that makes those, such as text-embedding-3-small`,
      );
    if (!vector.every(Number.isFinite))
      return invalidAnswer(`The provider of ${model} answered a vector that is not made of finite numbers`);
    byIndex.set(index, vector);
  }
  const vectors = data.flatMap((_, index) => byIndex.get(index) ?? []);
  if (vectors.length !== count) return invalidAnswer(`The provider of ${model} answered two vectors to one text, and none to another`);
  const tokens = isRecord(usage) ? (usage['total_tokens'] ?? usage['prompt_tokens']) : 0;
  return { vectors, tokens: typeof tokens === 'number' ? tokens : 0 };
}

const invalidAnswer = (message: string): EmbeddingFailure => ({ failure: 'invalid_answer', message, retryable: false });

/** Decodes little-endian float32 in base64, as requested, or plain numbers of a service without base64. */
function decodeVector(embedding: unknown): Float32Array | undefined {
  if (Array.isArray(embedding)) return Float32Array.from(embedding as number[]);
  if (typeof embedding !== 'string') return undefined;
  const bytes = new Uint8Array(Buffer.from(embedding, 'base64'));
  return bytes.length % 4 === 0 ? new Float32Array(bytes.buffer) : undefined;
}
