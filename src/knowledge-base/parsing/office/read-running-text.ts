import type { Archive } from '../../../library/office-files/archive.ts';
import { readRelationships } from '../../../library/office-files/relationships.ts';
import { readXml } from '../../../library/office-files/read-xml.ts';
import { findSymbol, showSymbols } from '../../../library/office-files/symbol-fonts.ts';
import { isPageNumber } from '../page-words.ts';
import type { BlockWriter } from '../block-writer.ts';
import { WordPictures } from './word-pictures.ts';
import { findFont, isOn } from './word-styles.ts';

const maxLength = 1 << 16;
const pageFields = /^\s*(?:PAGE|NUMPAGES|SECTIONPAGES|SECTION)\b/i;

/** The lines of a header or footer of Word, without page numbers, and what its pictures and its words behind the text say. */
export async function readRunningText(archive: Archive, part: string, { warnings, describedImages }: BlockWriter): Promise<string[]> {
  const targets = new Map((await readRelationships(archive, part)).map(({ id, target }) => [id, target]));
  const lines: string[] = [];
  /** The open fields: whether each shows a page number, and whether its result has begun. */
  const fields: { instruction: string; isResult: boolean }[] = [];
  let segments = [{ text: '', hasPage: false }];
  let isInText = false;
  let isInInstruction = false;
  let isHidden = false;
  let font = '';
  let skipped = 0;
  const onUnread = (unread: string) => warnings.add('symbols_unread', { font: unread });
  const pictures = new WordPictures({
    count: (code) => warnings.add(code),
    onDescribedImage: (relationship) => describedImages.add(targets.get(relationship) ?? ''),
  });
  let length = 0;
  const isPage = () => fields.some(({ instruction }) => pageFields.test(instruction));
  const add = (text: string) => {
    if (isHidden || isPage() || length > maxLength) return;
    segments.at(-1)!.text += text;
    length += text.length;
  };
  const addSymbol = (attributes: Record<string, string>) => {
    const shown = findSymbol(attributes['w:font'] ?? '', parseInt(attributes['w:char'] ?? '', 16));
    if (shown === null) onUnread(attributes['w:font'] ?? '');
    else add(shown);
  };
  const endLine = () => {
    const kept = segments.filter(({ text, hasPage }) => !hasPage || !isPageNumber(`${text} 1`));
    lines.push(
      kept
        .map(({ text }) => text.trim())
        .filter(Boolean)
        .join(' | '),
    );
    segments = [{ text: '', hasPage: false }];
  };
  await readXml(archive.pieces(part), {
    open(name, attributes) {
      if (skipped > 0 || name === 'Fallback' || name === 'del' || name === 'moveFrom') {
        skipped += 1;
        return;
      }
      const kind = attributes['w:fldCharType'];
      const described = pictures.open(name, attributes);
      if (described !== '') add(` ${described} `);
      if (name === 'r') [isHidden, font] = [false, ''];
      else if (name === 'drawing' || name === 'pict') pictures.begin();
      else if (name === 'rFonts') font = findFont(attributes) ?? font;
      else if (name === 'sym') addSymbol(attributes);
      else if (name === 'vanish') isHidden = isOn(attributes);
      else if (name === 't') isInText = true;
      else if (name === 'instrText') isInInstruction = true;
      else if (name === 'tab' || name === 'ptab' || name === 'br' || name === 'cr') segments.push({ text: '', hasPage: false });
      else if (name === 'fldSimple') fields.push({ instruction: attributes['w:instr'] ?? '', isResult: true });
      else if (kind === 'begin') fields.push({ instruction: '', isResult: false });
      else if (kind === 'separate' && fields.length > 0) fields.at(-1)!.isResult = true;
      else if (kind === 'end') fields.pop();
      if (isPage()) segments.at(-1)!.hasPage = true;
    },
    text(piece) {
      if (skipped > 0) return;
      const field = fields.at(-1);
      if (isInInstruction && field && field.instruction.length < 100) field.instruction += piece;
      if (isInText) add(showSymbols(piece, font, onUnread));
    },
    close(name) {
      if (skipped > 0) {
        skipped -= 1;
        return;
      }
      pictures.close(name);
      if (name === 't') isInText = false;
      else if (name === 'instrText') isInInstruction = false;
      else if (name === 'fldSimple') fields.pop();
      else if (name === 'p') endLine();
    },
  });
  return lines.filter((line) => line !== '');
}
