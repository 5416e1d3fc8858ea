import type { Archive } from '../../../library/office-files/archive.ts';
import { readXml } from '../../../library/office-files/read-xml.ts';

/** `isHidden`: undefined: as the style that it is based on. `level`: from 0. */
interface WordStyle {
  base: string | undefined;
  isHidden: boolean | undefined;
  font: string | undefined;
  list: string | undefined;
  level: number | undefined;
}

export interface WordStyles {
  isHidden(style: string | undefined): boolean;
  fontOf(style: string | undefined): string | undefined;
  /** The list of a style, and its level, if the style names it itself. */
  listOf(style: string | undefined): { list: string; level: number | undefined } | undefined;
}

const maxBases = 20;

/** Whether a switch such as `<w:vanish/>` is on. */
export const isOn = (attributes: Record<string, string>): boolean => !/^(?:0|false|off)$/.test(attributes['w:val'] ?? '1');

/** The font of letters that `w:rFonts` names; undefined where it leaves this to the theme. */
export const findFont = (attributes: Record<string, string>): string | undefined =>
  attributes['w:asciiTheme'] === undefined ? (attributes['w:ascii'] ?? attributes['w:hAnsi']) : undefined;

/** What of the styles decides which texts are shown, in which font, and how they are numbered. */
export async function readWordStyles(archive: Archive, part: string): Promise<WordStyles> {
  const styles = new Map<string, WordStyle>();
  let style: WordStyle | undefined;
  let isInMark = 0;
  await readXml(archive.pieces(part), {
    open(name, attributes) {
      const value = attributes['w:val'];
      if (name === 'style') {
        style = { base: undefined, isHidden: undefined, font: undefined, list: undefined, level: undefined };
        styles.set(attributes['w:styleId'] ?? '', style);
      } else if (name === 'tblStylePr') isInMark += 1;
      if (!style || isInMark > 0) return;
      if (name === 'basedOn') style.base = value;
      else if (name === 'vanish') style.isHidden = isOn(attributes);
      else if (name === 'rFonts') style.font = findFont(attributes) ?? style.font;
      else if (name === 'numId') style.list = value;
      else if (name === 'ilvl') style.level = Number(value) || 0;
    },
    close(name) {
      if (name === 'style') style = undefined;
      else if (name === 'tblStylePr') isInMark -= 1;
    },
  });
  const find = (id: string | undefined, has: (one: WordStyle) => boolean): WordStyle | undefined => {
    let found = styles.get(id ?? '');
    for (let bases = 0; found && !has(found) && bases < maxBases; bases += 1) found = styles.get(found.base ?? '');
    return found && has(found) ? found : undefined;
  };
  return {
    isHidden: (id) => find(id, (one) => one.isHidden !== undefined)?.isHidden ?? false,
    fontOf: (id) => find(id, (one) => one.font !== undefined)?.font,
    listOf(id) {
      const found = find(id, (one) => one.list !== undefined);
      return found?.list === undefined ? undefined : { list: found.list, level: styles.get(id ?? '')?.level ?? found.level };
    },
  };
}
