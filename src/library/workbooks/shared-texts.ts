import type { Archive } from '../office-files/archive.ts';
import { readXml } from '../office-files/read-xml.ts';
import { tooLarge } from '../text/unparsable-document.ts';
import { PackedTexts } from './packed-texts.ts';
import { unescapeText } from './unescape-text.ts';

const maxSharedTexts = 1_000_000;
/** All are in memory while the workbook is read. */
const maxCharacters = 32 << 20;

/** The texts of a workbook that are stored once for all cells. Phonetic readings are left out. */
export async function readSharedTexts(archive: Archive, part: string): Promise<PackedTexts> {
  const texts = new PackedTexts();
  let length = 0;
  let text = '';
  let isInText = false;
  let isSpoken = false;
  await readXml(archive.pieces(part), {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 'rPh') isSpoken = true;
      else if (name === 't') isInText = !isSpoken;
    },
    text(piece) {
      if (isInText) text += piece;
    },
    close(name) {
      if (name === 't') isInText = false;
      else if (name === 'rPh') isSpoken = false;
      else if (name === 'si') {
        texts.add(unescapeText(text));
        length += text.length;
        if (length > maxCharacters || texts.count > maxSharedTexts) throw tooLarge('it holds too many texts');
      }
    },
  });
  return texts;
}
