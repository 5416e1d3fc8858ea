import type { ParsedDocument } from '../parsing/blocks.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { splitIntoAtoms, groupBlocks, splitIntoSections } from './split-blocks.ts';
import type { Atom, PackedAtoms, PlacedBlock, Section } from './split-blocks.ts';

/**
 * `headings`: the headings above the chunk, highest first. `page`: the page where it begins; null in a document without pages. `char_start`
 * and `char_end`: its position in `documentText`, in UTF-16 code units.
 */
interface ChunkMetadata {
  headings: string[];
  page: number | null;
  char_start: number;
  char_end: number;
}

/**
 * `chunk_text` is the document's text from `char_start` to `char_end`; in a part of a table that is not its first, the header row stands
 * before it. `contextualized_text` is what is embedded and indexed. `tokens` of `chunk_text`, as `estimateTokens` counts.
 */
export interface Chunk {
  chunk_text: string;
  contextualized_text: string;
  tokens: number;
  metadata: ChunkMetadata;
}

/** `targetTokens`: the usual size of a chunk. `maxTokens`: its size with the end of a section or passage; at least 5/4 of the target. */
export interface ChunkOptions {
  targetTokens?: number;
  maxTokens?: number;
  overlapShare?: number;
}

/** A chunk below this share of the target does not end before a passage that exceeds it; the second share is for passages over the target. */
const minChunkShare = 0.25;
const minChunkShareBeforeLongGroup = 0.5;

export const chunkDocument = (document: Pick<ParsedDocument, 'title' | 'blocks'>, options?: ChunkOptions): Chunk[] => [
  ...generateChunks(document, options),
];

/** Yields the chunks one by one, so that a large document's chunks are not all in memory. */
export function* generateChunks(
  document: Pick<ParsedDocument, 'title' | 'blocks'>,
  options: ChunkOptions = {},
): Generator<Chunk, undefined, undefined> {
  const { targetTokens = 400, maxTokens = Math.floor(targetTokens * 1.25), overlapShare = 0.15 } = options;
  const limits = { target: targetTokens, max: maxTokens, overlap: targetTokens * overlapShare };
  for (const section of splitIntoSections(document.blocks))
    for (const group of draftChunks(section, limits)) yield toChunk(group, section, document.title);
}

interface Limits {
  target: number;
  max: number;
  overlap: number;
}

/** The atoms of a chunk, and the row to repeat before them. */
interface ChunkDraft {
  atoms: Atom[];
  header: string | null;
  tokens: number;
}

const emptyDraft = (header: string | null = null): ChunkDraft => ({
  atoms: [],
  header,
  tokens: header === null ? 0 : estimateTokens(header),
});

function* draftChunks(section: Section, limits: Limits): Generator<ChunkDraft> {
  let group = emptyDraft();
  const add = (atom: Atom) => {
    group.atoms.push(atom);
    group.tokens += atom.tokens;
  };
  for (const atom of section.headings.flatMap((heading) => splitIntoAtoms(heading, 'text', limits.target))) {
    if (group.tokens + atom.tokens > limits.target) {
      yield group;
      group = emptyDraft();
    }
    add(atom);
  }
  const passages = groupBlocks(section.blocks, limits.target);
  for (let next = passages.next(); !next.done;) {
    const passage = next.value;
    next = passages.next();
    // The last passage may fill the chunk to its maximum rather than leave a small chunk behind.
    const isWhole = group.tokens + passage.tokens <= (next.done ? limits.max : limits.target);
    const minTokens = limits.target * (passage.tokens > limits.target ? minChunkShareBeforeLongGroup : minChunkShare);
    if (!isWhole && group.tokens >= minTokens) {
      yield group;
      group = emptyDraft();
    }
    let remainingTokens = passage.tokens;
    /** The index of the chunk's first atom in this passage; -1: the chunk begins before the passage. */
    let groupStart = group.atoms.length > 0 ? -1 : 0;
    for (const [index, atom] of passage.atoms.entries()) {
      const isFull = group.tokens + atom.tokens > limits.target && group.tokens + remainingTokens > limits.max;
      if (isFull && group.atoms.length > 0) {
        yield group;
        group = emptyDraft(passage.kind === 'table' && index > 0 ? passage.header : null);
        const repeated = passage.kind === 'text' ? selectOverlap(passage.atoms, groupStart + 1, index, limits) : [];
        for (const repeatedAtom of repeated) add(repeatedAtom);
        groupStart = index - repeated.length;
      }
      add(atom);
      remainingTokens -= atom.tokens;
    }
  }
  if (group.atoms.length > 0) yield group;
}

/** The last atoms before `index`, from `first` on, that fit into the overlap. */
function selectOverlap(atoms: PackedAtoms, first: number, index: number, { overlap }: Limits): Atom[] {
  const repeated: Atom[] = [];
  let tokens = 0;
  for (let place = index - 1; place >= first; place -= 1) {
    const atom = atoms.at(place);
    if (!atom || tokens + atom.tokens > overlap) break;
    repeated.unshift(atom);
    tokens += atom.tokens;
  }
  return repeated;
}

function toChunk({ atoms, header, tokens }: ChunkDraft, { path }: Section, title: string | null): Chunk {
  const [first, last] = [atoms[0], atoms.at(-1)];
  if (!first || !last) throw new Error('A chunk has no atoms');
  const own = joinAtoms(atoms);
  const text = header === null ? own : `${header}\n${own}`;
  const context = [...(title !== null && title !== path[0] ? [title] : []), ...(path.length > 0 ? [path.join(' > ')] : [])].join('\n');
  return {
    chunk_text: text,
    contextualized_text: context === '' ? text : `${context}\n\n${text}`,
    tokens,
    metadata: {
      headings: path,
      page: first.placed.block.page,
      char_start: first.placed.at + first.start,
      char_end: last.placed.at + last.end,
    },
  };
}

/** The document's text from the first atom to the last, with the separators between blocks. */
function joinAtoms(atoms: Atom[]): string {
  const parts: { placed: PlacedBlock; start: number; end: number }[] = [];
  for (const { placed, start, end } of atoms) {
    const last = parts.at(-1);
    if (last?.placed === placed) last.end = end;
    else parts.push({ placed, start, end });
  }
  return parts.map(({ placed, start, end }, index) => (index > 0 ? placed.separator : '') + placed.block.text.slice(start, end)).join('');
}
