import type { FoundChunk } from '../../../knowledge-base/search/search-chunks.ts';
import { formatPassages } from '../../../knowledge-base/search/format-passages.ts';

/** How much of what was found a step keeps, as JSON: less than half of what all steps of a run may add to its context. */
const maxPassageBytes = 96 * 1024;

/** A chunk as POST /knowledge-base/search tells it, with where it stood in each list. Its headings are in `chunk_metadata`. */
type Passage = Omit<FoundChunk, 'contextualized_text' | 'embedding_model'>;

export interface Passages {
  chunks: Passage[];
  /** The same passages with their sources, for the prompt of a language model; without any, that there are none. */
  text: string;
  /** What was left out; absent when nothing was. */
  note?: string;
}

/** The passages that have room, best first. `copies`: how often their text is going to stand in the context. */
export function selectPassages(found: FoundChunk[], copies: number): Passages {
  const chunks: Passage[] = [];
  let room = maxPassageBytes;
  for (const { contextualized_text: _text, embedding_model: _model, ...passage } of found) {
    const bytes = jsonByteLength(passage) + copies * jsonByteLength(toPassagesText([passage]));
    if (bytes > room) continue;
    room -= bytes;
    chunks.push(passage);
  }
  const text = toPassagesText(chunks);
  if (chunks.length === found.length) return { chunks, text };
  const note = `${found.length - chunks.length} of ${found.length} passages are left out, since a step keeps ${maxPassageBytes} bytes of them; a smaller limit finds the best alone`;
  return { chunks, text: `${text}\n\n(${note})`, note };
}

const toPassagesText = (passages: Passage[]): string =>
  formatPassages(
    passages.map(({ filename, chunk_metadata, chunk_text }) => ({
      filename,
      headings: chunk_metadata['headings'] as string[],
      text: chunk_text,
    })),
  );

const jsonByteLength = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).byteLength;
