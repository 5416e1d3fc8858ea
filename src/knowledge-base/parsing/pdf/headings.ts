import type { PageParagraph } from './paragraphs.ts';

const maxHeadingLength = 150;
const maxEmphasisedLength = 90;
const minSizeRatio = 1.15;
/** Above this share the style of headings is the style of the whole document. */
const maxHeadingShare = 0.4;
const minParagraphsForShare = 20;

/** A bookmark of the flattened outline; `depth` begins at 1. */
export interface Bookmark {
  title: string;
  depth: number;
}

/**
 * The level of each paragraph that is a heading. A heading is found by a bookmark, by letters larger than those of most text, or by a font
 * of its own on a short line. A PDF does not say which fonts are bold.
 */
export function detectHeadingLevels(paragraphs: PageParagraph[], bookmarks: Bookmark[]): Map<PageParagraph, number> {
  const texts = paragraphs.filter((paragraph) => paragraph.kind === 'text' || paragraph.kind === 'item');
  const bodySize = findMostCommon(texts, (paragraph) => String(roundSize(paragraph.size)));
  const bodyFont = findMostCommon(texts, (paragraph) => paragraph.font);
  const depths = new Map(bookmarks.map(({ title, depth }) => [keyOf(title), depth]));
  const isLarge = (paragraph: PageParagraph) => paragraph.size >= Number(bodySize) * minSizeRatio;

  let found = paragraphs.filter((paragraph, index) => {
    if (
      paragraph.kind === 'table' ||
      paragraph.kind === 'field' ||
      paragraph.text.length > maxHeadingLength ||
      !/\p{L}{2}/u.test(paragraph.text)
    )
      return false;
    if (depths.has(keyOf(paragraph.text))) return true;
    if (paragraph.lineCount > 3 || /[.,;。、，；]$/.test(paragraph.text)) return false;
    return (isLarge(paragraph) && paragraph.kind === 'text') || isEmphasised(paragraph, paragraphs[index + 1], Number(bodySize), bodyFont);
  });
  if (found.length > Math.max(texts.length, minParagraphsForShare) * maxHeadingShare)
    found = found.filter((paragraph) => depths.has(keyOf(paragraph.text)) || isLarge(paragraph));

  const sizes = [...new Set(found.map((paragraph) => roundSize(paragraph.size)))].toSorted((one, other) => other - one);
  return new Map(found.map((paragraph) => [paragraph, depths.get(keyOf(paragraph.text)) ?? sizes.indexOf(roundSize(paragraph.size)) + 1]));
}

/** A short line in another font than the text that follows it. */
function isEmphasised(paragraph: PageParagraph, next: PageParagraph | undefined, bodySize: number, bodyFont: string): boolean {
  return (
    paragraph.isOneFont &&
    paragraph.font !== bodyFont &&
    paragraph.size >= bodySize * 0.97 &&
    paragraph.lineCount <= 2 &&
    paragraph.text.length <= maxEmphasisedLength &&
    (paragraph.kind === 'text' || /^[\dA-Z]{1,3}[.)]/.test(paragraph.text)) &&
    !/[@|]|[!:]$/.test(paragraph.text) &&
    next !== undefined &&
    (next.font !== paragraph.font || next.kind === 'table')
  );
}

function findMostCommon(paragraphs: PageParagraph[], keyed: (paragraph: PageParagraph) => string): string {
  const lengths = new Map<string, number>();
  for (const paragraph of paragraphs) lengths.set(keyed(paragraph), (lengths.get(keyed(paragraph)) ?? 0) + paragraph.text.length);
  return [...lengths].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? '';
}

const roundSize = (size: number) => Math.round(size * 2) / 2;
const keyOf = (title: string) =>
  title
    .replace(/^[\s\d.]+/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
