import type { Archive } from '../office-files/archive.ts';
import { readXml } from '../office-files/read-xml.ts';
import { tooLarge } from '../text/unparsable-document.ts';
import { CellText } from './cell-text.ts';
import { PackedTexts } from './packed-texts.ts';

const maxSharedTexts = 1_000_000;
/** All are in memory while the workbook is read. */
const maxCharacters = 32 << 20;

/** The texts of a workbook that are stored once for all cells. Phonetic readings are left out. */
export async function readSharedTexts(archive: Archive, part: string, onUnreadSymbol: (font: string) => void): Promise<PackedTexts> {
  const texts = new PackedTexts();
  const shared = new CellText(onUnreadSymbol);
  let length = 0;
  await readXml(archive.pieces(part), {
    open(name, attributes) {
      if (name === 'si') shared.start();
      else shared.open(name, attributes);
    },
    text: (piece) => shared.add(piece),
    close(name) {
      shared.close(name);
      if (name !== 'si') return;
      texts.add(shared.shown, shared.hasOwnFonts);
      length += shared.raw.length;
      if (length > maxCharacters || texts.count > maxSharedTexts) throw tooLarge('it holds too many texts');
    },
  });
  return texts;
}
