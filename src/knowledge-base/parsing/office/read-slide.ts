import { raisedSign, type Raised } from '../../../library/text/raised-digits.ts';
import { MathText } from './math-text.ts';
import { showDrawnSymbols } from '../../../library/office-files/symbol-fonts.ts';
import { readXml } from '../../../library/office-files/read-xml.ts';
import { toPictureText } from '../picture-text.ts';
import type { WarningCounts } from '../warnings.ts';
import { SlideNumbers } from './slide-numbers.ts';
import type { SlideNumbering } from './slide-numbers.ts';

/** A paragraph of a slide. `kind`: its placeholder, such as `title` or `body`, or empty. */
interface SlideParagraph {
  text: string;
  kind: string;
  isListed: boolean;
}

/** `chart`: the relationship of its part. `footer`: a line that repeats on other slides. */
export type SlidePart = { paragraph: SlideParagraph } | { row: string[] } | { tableEnd: true } | { chart: string } | { footer: string };

/** Placeholders that repeat on every slide. A date that is typed is text, one that the program writes is none. */
const repeatedPlaceholders = new Set(['sldNum', 'dt', 'sldImg']);
const runningPlaceholders = new Set(['ftr', 'hdr']);
const shapes = new Set(['sp', 'grpSp', 'graphicFrame', 'cxnSp', 'pic']);
const propertiesOfShapes = new Set(['nvSpPr', 'nvGrpSpPr', 'nvGraphicFramePr', 'nvCxnSpPr', 'nvPicPr']);
const maxLevel = 8;

interface Slide {
  parts: SlidePart[];
  /** Whether the slide is not shown. */
  isHidden: boolean;
  /** The texts of shapes that are not shown, which are left out. */
  hiddenTexts: number;
  /** The relationships of pictures that a text describes. */
  describedImages: Set<string>;
}

/** The contents of a slide in its own order, the order of a screen reader: texts, and what pictures and shapes are described as. */
export async function readSlide(pieces: AsyncIterable<string>, warnings: WarningCounts): Promise<Slide> {
  const parts: SlidePart[] = [];
  let isHidden = false;
  let kind = '';
  let text = '';
  let isInText = false;
  /** Of the current run. */
  let runText = '';
  let fonts = noFonts();
  let description = '';
  let isDescribed = false;
  const describedImages = new Set<string>();
  let raised: Raised = '';
  let lastPiece = '';
  let bullet: boolean | undefined;
  let hasField = false;
  let row: string[] | undefined;
  let cell: string[] | undefined;
  /** Inside a fallback for older programs, which repeats the content before it. */
  let fallbacks = 0;
  let numbers = new SlideNumbers();
  let numbering: SlideNumbering | undefined;
  let level = 0;
  let math: MathText | undefined;
  let openShapes = 0;
  /** The depth of the outermost shape that is not shown. */
  let hiddenFrom = Infinity;
  let hiddenTexts = 0;
  const isShown = () => openShapes < hiddenFrom;
  const addDescription = () => {
    if (description === '' || repeatedPlaceholders.has(kind)) return;
    if (isShown()) parts.push({ paragraph: { text: description, kind: kind === '' ? '' : 'description', isListed: false } });
    else hiddenTexts += 1;
    [isDescribed, description] = [true, ''];
  };

  await readXml(pieces, {
    open(name, attributes) {
      if (name === 'Fallback') fallbacks += 1;
      if (fallbacks > 0) return;
      if (math) {
        math.open(name, attributes);
        return;
      }
      if (shapes.has(name)) [openShapes, isDescribed] = [openShapes + 1, false];
      if (name === 'sp' || name === 'tc') numbers = new SlideNumbers();
      if (name === 'cNvPr' && openShapes > 0 && (attributes['hidden'] === '1' || attributes['hidden'] === 'true'))
        hiddenFrom = Math.min(hiddenFrom, openShapes);
      if (name === 'cNvPr') description = toPictureText({ title: attributes['title'], description: attributes['descr'] });
      if (name === 'cNvPr' && openShapes === 0) addDescription();
      if (name === 'oMath') math = new MathText();
      else if (name === 'sld') isHidden = attributes['show'] === '0' || attributes['show'] === 'false';
      else if (shapes.has(name)) kind = '';
      else if (name === 'ph') kind = attributes['type'] ?? 'body';
      else if (name === 'p') [text, lastPiece, bullet, numbering, level, hasField] = ['', '', undefined, undefined, 0, false];
      else if (name === 'fld') [hasField, fonts] = [true, noFonts()];
      else if (name === 'pPr') level = Math.min(Math.max(Number(attributes['lvl'] ?? 0) || 0, 0), maxLevel);
      else if (name === 'buNone') bullet = false;
      else if (name === 'buAutoNum') {
        bullet = true;
        numbering = { type: attributes['type'] ?? '', start: Number(attributes['startAt'] ?? 1) || 1 };
      } else if (name === 'buChar' || name === 'buBlip') bullet = true;
      else if (name === 'chart' && attributes['r:id'] !== undefined && isShown()) parts.push({ chart: attributes['r:id'] });
      else if ((name === 'blip' || name === 'svgBlip') && isDescribed) describedImages.add(attributes['r:embed'] ?? '');
      else if (name === 'r') [raised, fonts] = ['', noFonts()];
      else if (name === 'rPr') raised = toRaised(attributes['baseline']);
      else if (name === 'latin') fonts.letters = toFontName(attributes['typeface']);
      else if (name === 'sym') fonts.symbols = toFontName(attributes['typeface']);
      else if (name === 't') [isInText, runText] = [true, ''];
      else if (name === 'br') text += '\n';
      else if (name === 'tr') row = [];
      else if (name === 'tc') cell = [];
    },
    text(piece) {
      if (fallbacks > 0) return;
      if (math) math.text(piece);
      else if (isInText) runText += piece;
    },
    close(name) {
      if (name === 'Fallback') fallbacks -= 1;
      if (fallbacks > 0) return;
      if (math && name === 'oMath') {
        text += math.end();
        math = undefined;
      } else if (math) math.close(name);
      else if (shapes.has(name)) {
        if (openShapes <= hiddenFrom) hiddenFrom = Infinity;
        openShapes -= 1;
      } else if (propertiesOfShapes.has(name)) addDescription();
      else if (name === 't') {
        const shown = isShown() ? showDrawnSymbols(runText, fonts, (font) => warnings.add('symbols_unread', { font })) : runText;
        text += raisedSign(lastPiece, raised, shown) + shown;
        [lastPiece, raised, runText, isInText] = [shown, '', '', false];
      } else if (name === 'p' && !isShown()) hiddenTexts += text.trim() === '' ? 0 : 1;
      else if (name === 'p') {
        const label = text.trim() === '' ? '' : numbers.next(level, numbering);
        if (cell) cell.push(label + text);
        else if (runningPlaceholders.has(kind) || (kind === 'dt' && !hasField)) parts.push({ footer: text.trim() });
        else if (!repeatedPlaceholders.has(kind))
          parts.push({ paragraph: { text: label + text, kind, isListed: bullet ?? kind === 'body' } });
      } else if (name === 'tc' && row && cell) {
        row.push(cell.join(' '));
        cell = undefined;
      } else if (name === 'tr' && row) {
        if (isShown()) parts.push({ row });
        row = undefined;
      } else if (name === 'tbl' && isShown()) parts.push({ tableEnd: true });
    },
  });
  return { parts, isHidden, hiddenTexts, describedImages };
}

const noFonts = () => ({ letters: '', symbols: '' });

/** A font of the theme has no name. */
const toFontName = (typeface = ''): string => (typeface.startsWith('+') ? '' : typeface);

/** `baseline`: in thousandths of a percent of the size, above 0 over the line. */
function toRaised(baseline: string | undefined): Raised {
  const height = Number(baseline ?? 0);
  return height > 0 ? '^' : height < 0 ? '_' : '';
}
