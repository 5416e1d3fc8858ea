import type { Block } from '../parsing/blocks.ts';
import { separatorBefore } from './document-text.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { splitLines, splitText } from './split-text.ts';

/** A block with its place in the document's text. */
export interface PlacedBlock {
  block: Block;
  separator: string;
  at: number;
}

/** What is not cut any further: a sentence, an item, a row. Offsets into the text of its block. */
export interface Atom {
  placed: PlacedBlock;
  start: number;
  end: number;
  tokens: number;
}

/** What belongs together and is kept in one chunk where it fits: a paragraph, a list with what leads to it, a table. */
export interface BlockGroup {
  kind: 'text' | 'list' | 'table';
  /** The row to repeat when the table is cut. */
  header: string | null;
  atoms: Atom[];
  tokens: number;
}

/** Blocks below one heading; the heading itself, and those right above it, come first. `path`: the headings that lead here, highest first. */
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

/** `mostTokens` is the most that an atom may have. */
export function* groupBlocks(blocks: PlacedBlock[], mostTokens: number): Generator<BlockGroup> {
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
    yield toBlockGroup(blocks.slice(index, end), mostTokens);
    index = end;
  }
}

function toBlockGroup(members: PlacedBlock[], mostTokens: number): BlockGroup {
  const last = members.at(-1)?.block;
  const kind = last?.kind === 'table' ? 'table' : last?.kind === 'list_item' ? 'list' : 'text';
  const header = last?.kind === 'table' && last.header !== null && estimateTokens(last.header) <= mostTokens / 3 ? last.header : null;
  const room = mostTokens - (header === null ? 0 : estimateTokens(header));
  const atoms = members.flatMap((placed) => splitIntoAtoms(placed, kind, room));
  return { kind, header, atoms, tokens: atoms.reduce((sum, atom) => sum + atom.tokens, 0) };
}

export function splitIntoAtoms(placed: PlacedBlock, kind: BlockGroup['kind'], mostTokens: number): Atom[] {
  const { text } = placed.block;
  const tokensOf = (start: number, end: number) => estimateTokens(text.slice(start, end));
  const whole = kind === 'table' ? splitLines(text) : [{ start: 0, end: text.length }];
  return whole.flatMap(({ start, end }): Atom[] => {
    const tokens = tokensOf(start, end);
    if (tokens <= mostTokens) return [{ placed, start, end, tokens }];
    const parts = splitText(text.slice(start, end), mostTokens);
    return parts.map((part) => ({
      placed,
      start: start + part.start,
      end: start + part.end,
      tokens: tokensOf(start + part.start, start + part.end),
    }));
  });
}
