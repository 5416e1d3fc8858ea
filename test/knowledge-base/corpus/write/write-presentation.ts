import { makePresentation, slideOf } from '../../parsing/make-archive.ts';
import type { Part } from '../source.ts';
import { escapeHtml } from './write-html.ts';

/** `properties`: elements of the paragraph's properties. */
export const slideParagraph = (content: string, properties = ''): string =>
  `<a:p><a:pPr>${properties}</a:pPr><a:r><a:t>${escapeHtml(content)}</a:t></a:r></a:p>`;

/** `placeholder`: such as `title`; empty for a box of text. */
export const slideShape = (paragraphs: string, placeholder = '', more = ''): string =>
  `<p:sp><p:nvSpPr><p:cNvPr id="2" name="a" ${more}/><p:nvPr>${placeholder === '' ? '' : `<p:ph type="${placeholder}"/>`}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`;

/** A cell with a paragraph for each line. */
export const slideCell = (content: string, attributes = ''): string =>
  `<a:tc ${attributes}><a:txBody>${content
    .split('\n')
    .map((line) => slideParagraph(line))
    .join('')}</a:txBody></a:tc>`;
export const slideTable = (rows: string[][]): string =>
  `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${rows.map((cells) => `<a:tr>${cells.join('')}</a:tr>`).join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;

const types = ['arabicPeriod', 'alphaLcParenR', 'romanLcPeriod'];

function writePart(part: Part): string {
  if (part.kind === 'heading') return slideShape(slideParagraph(part.text), 'title');
  if (part.kind === 'table') return slideTable(part.rows.map((cells) => cells.map((cell) => slideCell(cell))));
  if (part.kind === 'text') return slideShape(slideParagraph(part.text, '<a:buNone/>'));
  return '';
}

/** Each heading begins a slide. The items between other parts are one box. */
function toSlides(parts: Part[]): string[] {
  const slides: string[][] = [];
  let items = '';
  const flush = () => {
    if (items !== '') slides.at(-1)!.push(slideShape(items));
    items = '';
  };
  for (const part of parts) {
    if (part.kind === 'item') {
      items += `<a:p><a:pPr lvl="${part.depth}">${part.label === '' ? '<a:buChar char="•"/>' : `<a:buAutoNum type="${types[part.depth]}"/>`}</a:pPr><a:r><a:t>${escapeHtml(part.text)}</a:t></a:r></a:p>`;
      continue;
    }
    flush();
    if (part.kind === 'heading') slides.push([]);
    slides.at(-1)!.push(writePart(part));
  }
  flush();
  return slides.map((shapes) => slideOf(shapes.join('')));
}

export const toPresentation = (parts: Part[]): Promise<Uint8Array> => makePresentation(toSlides(parts));
