import type { ParsedDocument } from '../../../src/knowledge-base/parsing/blocks.ts';
import type { WarningCode } from '../../../src/knowledge-base/parsing/warnings.ts';
import { outlineOf } from '../document-support.ts';

/** A piece of a document, as its author declares it. `label`: the bullet or number that a reader sees, empty for a bullet. `depth`: from 0. */
export type Part =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'text'; text: string }
  | { kind: 'item'; label: string; depth: number; text: string }
  | { kind: 'table'; rows: string[][] };

export const heading = (level: number, text: string): Part => ({ kind: 'heading', level, text });
export const text = (content: string): Part => ({ kind: 'text', text: content });
export const item = (label: string, content: string, depth = 0): Part => ({ kind: 'item', label, depth, text: content });
export const table = (...rows: string[][]): Part => ({ kind: 'table', rows });

/**
 * A file and all that it has. `source`: what a person sees, in its order. `leftOut`: the words that are not read, by the warning that says so. `warned`: warnings
 * of a file that is read whole. `added`: words that the reader puts in.
 */
export interface CorpusFile {
  name: string;
  bytes: () => Uint8Array | Promise<Uint8Array>;
  source: Part[];
  leftOut?: Partial<Record<WarningCode, string>>;
  warned?: WarningCode[];
  added?: string;
  /** The headings, items and rows as they are read, where the type of the file cannot keep those of the source. */
  structure?: string[];
}

/** Words and numbers; of a writing without blanks between words each sign. */
export const tokensOf = (content: string): string[] =>
  content.normalize('NFC').match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+|[☑☐]/gu) ?? [];

const wordsOf = (part: Part): string =>
  part.kind === 'table' ? part.rows.flat().join(' ') : part.kind === 'item' ? `${part.label} ${part.text}` : part.text;

export const sourceTokens = (parts: Part[]): string[] => parts.flatMap((part) => tokensOf(wordsOf(part)));
export const readTokens = ({ blocks }: ParsedDocument): string[] => blocks.flatMap((block) => tokensOf(block.text));

/** What the first list has more than the second, each token as often as it is missing. */
export function subtract(tokens: string[], others: string[]): string[] {
  const counts = new Map<string, number>();
  for (const token of others) counts.set(token, (counts.get(token) ?? 0) + 1);
  return tokens.filter((token) => {
    const left = counts.get(token) ?? 0;
    counts.set(token, left - 1);
    return left <= 0;
  });
}

/** The headings, items and rows of a source, in the form of `readStructure`. */
export const sourceStructure = (parts: Part[]): string[] =>
  parts.flatMap((part) => {
    if (part.kind === 'heading') return [`h${part.level} ${part.text}`];
    if (part.kind === 'item') return [`- ${`${part.label} ${part.text}`.trim()}`];
    return part.kind === 'table' ? part.rows.map((cells) => `| ${writeRow(cells)}`) : [];
  });

export const readStructure = (document: ParsedDocument): string[] => outlineOf(document).filter((line) => !line.startsWith('p '));

/** A row as documents have it: each cell on one line, without the empty cells at its end. */
export const writeRow = (cells: string[]): string =>
  cells
    .slice(0, cells.findLastIndex((cell) => cell !== '') + 1)
    .map((cell) => cell.replace(/\s+/g, ' '))
    .join(' | ')
    .trim();
