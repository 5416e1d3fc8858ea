import type { Block } from './blocks.ts';

/** The level of a short bold paragraph, below every marked heading. */
export const boldHeadingLevel = 5;

const maxHeadingLength = 90;
const numberedHeading = /^(?:(\d{1,2}(?:\.\d{1,2})*)[.)]?|[A-Z][.)]|[IVX]{1,5}[.)])\s+\p{Lu}/u;

/**
 * Turns single lines with a number before text, such as "2. Data flow", into headings. Only in documents with at most one marked heading;
 * in others such lines are steps.
 */
export function detectTypedHeadings(blocks: Block[]): Block[] {
  if (blocks.filter((block) => block.kind === 'heading' && block.level < boldHeadingLevel).length > 1) return blocks;
  const hasBold = blocks.some((block) => block.kind === 'heading' && block.level === boldHeadingLevel);
  return blocks.map((block, index) => {
    const depth = toHeadingDepth(block);
    const [before, next] = [blocks[index - 1], blocks[index + 1]];
    const isAlone = [before, next].every((other) => other === undefined || toHeadingDepth(other) === undefined);
    if (depth === undefined || !isAlone || !next || next.kind === 'heading') return block;
    return { kind: 'heading', level: hasBold ? boldHeadingLevel + 1 : Math.min(depth + 1, 6), text: block.text, page: block.page };
  });
}

/** Undefined for a line without the number of a heading. */
function toHeadingDepth(block: Block): number | undefined {
  if ((block.kind !== 'paragraph' && block.kind !== 'list_item') || block.text.length > maxHeadingLength || /[.,;:!?]$/.test(block.text))
    return undefined;
  const [whole, number = ''] = numberedHeading.exec(block.text) ?? [];
  if (whole === undefined) return undefined;
  return number === '' ? 2 : number.split('.').length;
}
