import type { Block } from './blocks.ts';

/** Of a short paragraph that is bold as a whole: most people make headings so. Lower than any that says it is one. */
export const boldHeadingLevel = 5;

const maxHeadingLength = 90;
const numberedHeading = /^(?:(\d{1,2}(?:\.\d{1,2})*)[.)]?|[A-Z][.)]|[IVX]{1,5}[.)])\s+\p{Lu}/u;

/**
 * The blocks, with headings for lines that are numbered like headings and stand alone before text: "2. Data flow". Only where a document has
 * no more than one heading that says it is one; otherwise such lines are steps below it.
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

/** Undefined for what is not numbered like a heading. */
function toHeadingDepth(block: Block): number | undefined {
  if ((block.kind !== 'paragraph' && block.kind !== 'list_item') || block.text.length > maxHeadingLength || /[.,;:!?]$/.test(block.text))
    return undefined;
  const [whole, number = ''] = numberedHeading.exec(block.text) ?? [];
  if (whole === undefined) return undefined;
  return number === '' ? 2 : number.split('.').length;
}
