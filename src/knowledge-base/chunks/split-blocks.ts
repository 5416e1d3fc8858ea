import type { Block, ParsedDocument } from '../parsing/blocks.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { splitLines, splitText } from './split-text.ts';

/** The separator between two blocks: one line end within a list or a table, an empty line elsewhere. */
export function separatorBefore(block: Block, before: Block | undefined): string {
  if (before === undefined) return '';
  const isClose = (block.kind === 'list_item' && before.kind === 'list_item') || (block.kind === 'table' && block.isContinued);
  return isClose ? '\n' : '\n\n';
}

/** The document's normalized text. `char_start` and `char_end` of chunks are positions in it, in UTF-16 code units. */
export function documentText({ blocks }: Pick<ParsedDocument, 'blocks'>): string {
  return blocks.map((block, index) => separatorBefore(block, blocks[index - 1]) + block.text).join('');
}

/** A block with its place in the document's text. */
export interface PlacedBlock {
  block: Block;
  separator: string;
  at: number;
}

/** A text that is not split further: a sentence, an item, a row. `start` and `end` are offsets in the text of its block. */
export interface Atom {
  placed: PlacedBlock;
  start: number;
  end: number;
  tokens: number;
}

/** Blocks that belong in one chunk if they fit: a paragraph, a list with its introduction, a table. */
export interface BlockGroup {
  kind: 'text' | 'list' | 'table';
  /** The row to repeat when the table is cut. */
  header: string | null;
  atoms: PackedAtoms;
  tokens: number;
}

/** The blocks below one heading, after the heading and those directly above it. `path`: the headings above, highest first. */
export interface Section {
  path: string[];
  headings: PlacedBlock[];
  blocks: PlacedBlock[];
}

const maxHeadingLength = 200;

export function* splitIntoSections(blocks: Block[]): Generator<Section> {
  const path: { level: number; text: string }[] = [];
  let section: Section = { path: [], headings: [], blocks: [] };
  let at = 0;
  let before: Block | undefined;
  for (const block of blocks) {
    const separator = separatorBefore(block, before);
    at += separator.length;
    const placed = { block, separator, at };
    if (block.kind === 'heading') {
      if (section.blocks.length > 0) {
        yield section;
        section = { path: [], headings: [], blocks: [] };
      }
      while ((path.at(-1)?.level ?? 0) >= block.level) path.pop();
      path.push({ level: block.level, text: block.text.slice(0, maxHeadingLength) });
      section.path = path.map(({ text }) => text);
      section.headings.push(placed);
    } else section.blocks.push(placed);
    at += block.text.length;
    before = block;
  }
  if (section.headings.length > 0 || section.blocks.length > 0) yield section;
}

/** Groups the blocks of a section. An atom has at most `maxTokens`. */
export function* groupBlocks(blocks: PlacedBlock[], maxTokens: number): Generator<BlockGroup> {
  for (let index = 0; index < blocks.length;) {
    const [first, next] = [blocks[index], blocks[index + 1]];
    if (!first) return;
    const { block } = first;
    const leadsToList = block.kind === 'paragraph' && block.text.endsWith(':') && next?.block.kind === 'list_item';
    const isMember = ({ block: other }: PlacedBlock) =>
      block.kind === 'table'
        ? other.kind === 'table' && other.isContinued
        : (block.kind === 'list_item' || leadsToList) && other.kind === 'list_item';
    let end = index + 1;
    for (let member = blocks[end]; member && isMember(member); member = blocks[end]) end += 1;
    yield toBlockGroup(blocks.slice(index, end), maxTokens);
    index = end;
  }
}

function toBlockGroup(members: PlacedBlock[], maxTokens: number): BlockGroup {
  const last = members.at(-1)?.block;
  const kind = last?.kind === 'table' ? 'table' : last?.kind === 'list_item' ? 'list' : 'text';
  const header = last?.kind === 'table' && last.header !== null && estimateTokens(last.header) <= maxTokens / 3 ? last.header : null;
  const maxAtomTokens = maxTokens - (header === null ? 0 : estimateTokens(header));
  const atoms = new PackedAtoms();
  for (const placed of members) atoms.add(placed, splitIntoAtoms(placed, kind, maxAtomTokens));
  return { kind, header, atoms, tokens: atoms.tokens };
}

/** Atoms as numbers alone: a table of 25 MiB may have hundreds of thousands of rows, of which only a chunk's are needed as objects. */
export class PackedAtoms {
  tokens = 0;
  readonly #members: PlacedBlock[] = [];
  /** The index of the first atom of each member. */
  readonly #firsts: number[] = [];
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #tokensOfEach: number[] = [];

  add(placed: PlacedBlock, atoms: Atom[]): void {
    this.#members.push(placed);
    this.#firsts.push(this.#starts.length);
    for (const { start, end, tokens } of atoms) {
      this.#starts.push(start);
      this.#ends.push(end);
      this.#tokensOfEach.push(tokens);
      this.tokens += tokens;
    }
  }

  at(index: number): Atom | undefined {
    const start = this.#starts[index];
    if (start === undefined) return undefined;
    return this.#toAtom(index, this.#members[this.#firsts.findLastIndex((first) => first <= index)]!);
  }

  *entries(): Generator<[number, Atom]> {
    let member = 0;
    for (let index = 0; index < this.#starts.length; index++) {
      while (this.#firsts[member + 1] !== undefined && this.#firsts[member + 1]! <= index) member += 1;
      yield [index, this.#toAtom(index, this.#members[member]!)];
    }
  }

  #toAtom(index: number, placed: PlacedBlock): Atom {
    return { placed, start: this.#starts[index]!, end: this.#ends[index]!, tokens: this.#tokensOfEach[index]! };
  }
}

export function splitIntoAtoms(placed: PlacedBlock, kind: BlockGroup['kind'], maxTokens: number): Atom[] {
  const { text } = placed.block;
  const countTokens = (start: number, end: number) => estimateTokens(text.slice(start, end));
  const whole = kind === 'table' ? splitLines(text) : [{ start: 0, end: text.length }];
  return whole.flatMap(({ start, end }): Atom[] => {
    const tokens = countTokens(start, end);
    if (tokens <= maxTokens) return [{ placed, start, end, tokens }];
    const parts = splitText(text.slice(start, end), maxTokens);
    return parts.map((part) => ({
      placed,
      start: start + part.start,
      end: start + part.end,
      tokens: countTokens(start + part.start, start + part.end),
    }));
  });
}
