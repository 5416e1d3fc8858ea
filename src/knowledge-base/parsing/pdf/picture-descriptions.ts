import type { PDFPageProxy } from 'unpdf/pdfjs';
import type { PdfObjects } from './pdf-objects.ts';

/** The library compares each part of a page with all parts beside it. With more comparisons in a file, no descriptions are read. */
const maxComparisons = 4e8;

/** A part of the library's structure of a page; its types leave out the description. */
interface StructureNode {
  alt?: string;
  children?: StructureNode[];
}

/** Reads what a tagged PDF says of its pictures to those who do not see them. */
export class PictureDescriptions {
  private readonly arePresent: boolean;

  private constructor(arePresent: boolean) {
    this.arePresent = arePresent;
  }

  static find(objects: PdfObjects): PictureDescriptions {
    let isDescribed = false;
    let comparisons = 0;
    for (const [, versions] of objects.entries())
      for (const { text } of versions) {
        isDescribed ||= /\/Alt[\s\0]*[(<\d]/.test(text);
        for (const [, kids = ''] of text.matchAll(/\/K[\s\0]*\[([^\]]*)/g)) comparisons += (kids.match(/R|<</g)?.length ?? 0) ** 2;
      }
    return new PictureDescriptions(isDescribed && comparisons <= maxComparisons);
  }

  /** The descriptions on a page, in its order; none where its structure is damaged. */
  async readPage(page: PDFPageProxy): Promise<string[]> {
    if (!this.arePresent) return [];
    const tree = await page.getStructTree().catch(() => null);
    return tree ? listDescriptions(tree as StructureNode) : [];
  }
}

/** Those of a part that is described as a whole, such as a chart, stand for its parts. */
const listDescriptions = ({ alt = '', children = [] }: StructureNode): string[] =>
  alt.trim() === '' ? children.flatMap(listDescriptions) : [alt.trim()];
