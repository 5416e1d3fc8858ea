import { expect } from 'vitest';
import { documentText } from '../../src/knowledge-base/chunks/split-blocks.ts';
import type { Block, ParsedDocument } from '../../src/knowledge-base/parsing/blocks.ts';
import { parseDocument } from '../../src/knowledge-base/parsing/parse-document.ts';
import { UnparsableDocument } from '../../src/library/text/unparsable-document.ts';

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const parseText = (text: string, name: string): Promise<ParsedDocument> => parseDocument(bytesOf(text), name);

/** Blocks as short lines: `h2 Opening hours`, `p ...`, `- ...`, `| a | b`. */
export const outlineOf = ({ blocks }: Pick<ParsedDocument, 'blocks'>): string[] => blocks.flatMap(linesOf);

function linesOf(block: Block): string[] {
  if (block.kind === 'heading') return [`h${block.level} ${block.text}`];
  if (block.kind === 'table') return block.text.split('\n').map((row) => `| ${row}`);
  return [`${block.kind === 'paragraph' ? 'p' : '-'} ${block.text}`];
}

/** Each snippet stands after the one before it. */
export function expectInOrder(document: ParsedDocument, snippets: string[]): void {
  const text = documentText(document);
  let place = 0;
  for (const snippet of snippets) {
    const found = text.indexOf(snippet, place);
    expect(found, `"${snippet}" after ${place} in:\n${text}`).not.toBe(-1);
    place = found + snippet.length;
  }
}

/** The failure of a parse, which must be one of the closed family. */
export async function failureOf(bytes: Uint8Array, name: string, declaredType?: string): Promise<UnparsableDocument> {
  const failure = await parseDocument(bytes, name, declaredType).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UnparsableDocument);
  return failure as UnparsableDocument;
}
