import type { HyphenJoiner } from './hyphens.ts';
import type { PageParagraph } from './paragraphs.ts';

/** A sentence that goes on in the next column or on the next page is one; notes at the foot may stand between. */
export function appendParagraphs(paragraphs: PageParagraph[], found: PageParagraph[], hyphens: HyphenJoiner): void {
  const [first, ...others] = found;
  if (!first) return;
  const before = paragraphs.slice(-4).findLast((candidate) => candidate.kind !== 'table' && Math.abs(candidate.size - first.size) < 0.3);
  const goesOn = first.kind === 'text' && before !== undefined && isContinued(before, first);
  if (goesOn) {
    before.text = hyphens.join(before.text, first.text);
    before.isFilled = first.isFilled;
  } else paragraphs.push(first);
  paragraphs.push(...others);
}

function isContinued(before: PageParagraph, after: PageParagraph): boolean {
  if (/[([,]$/.test(before.text)) return true;
  if (!/[\p{L}\p{N}\-\u2010]$/u.test(before.text)) return false;
  return /^\p{Ll}/u.test(after.text) || (before.kind === 'text' && before.isFilled && before.lineCount > 2 && before.font === after.font);
}
