import type { PdfObjects } from './pdf-objects.ts';

/** Smaller images are dots and lines. */
const minPixels = 8;

/** The images of a PDF, without the masks that cut their shapes. */
export function countImages(objects: PdfObjects): number {
  const images = new Set<number>();
  const masks = new Set<number>();
  for (const [number, versions] of objects.entries()) {
    for (const { text, start } of versions) {
      if (start === undefined || !/\/Subtype[\s\0]*\/Image\b/.test(text)) continue;
      const isLarge = ['Width', 'Height'].every(
        (key) => Number(new RegExp(`/${key}[\\s\\0]+(\\d+)`).exec(text)?.[1] ?? minPixels) >= minPixels,
      );
      if (isLarge) images.add(number);
      for (const [, mask] of text.matchAll(/\/(?:SMask|Mask)[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/g)) masks.add(Number(mask));
    }
  }
  return [...images].filter((number) => !masks.has(number)).length;
}
