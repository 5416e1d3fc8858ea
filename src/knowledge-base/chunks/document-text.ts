import type { Block, ParsedDocument } from '../parsing/blocks.ts';

/** What stands between two blocks: items of a list and parts of a table follow each other closely. */
export function separatorBefore(block: Block, before: Block | undefined): string {
  if (before === undefined) return '';
  const isClose = (block.kind === 'list_item' && before.kind === 'list_item') || (block.kind === 'table' && block.isContinued);
  return isClose ? '\n' : '\n\n';
}

/** The document's normalised text, into which the `char_start` and `char_end` of chunks point, in UTF-16 code units. */
export function documentText({ blocks }: Pick<ParsedDocument, 'blocks'>): string {
  return blocks.map((block, index) => separatorBefore(block, blocks[index - 1]) + block.text).join('');
}
