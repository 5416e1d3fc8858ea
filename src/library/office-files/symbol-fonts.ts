import { codePoint } from 'dingbat-to-unicode';

/** Fonts that draw symbols in the place of letters, and whose symbols have published equivalents in Unicode. */
const symbolFonts = new Set(['symbol', 'webdings', 'wingdings', 'wingdings 2', 'wingdings 3']);
/** Where Office stores the signs of symbol fonts. */
const [firstSymbol, lastSymbol] = [0xf000, 0xf0ff];
const storedSymbol = /[\uf000-\uf0ff]/;
const storedSymbols = /[\uf000-\uf0ff]+/g;
const lastSign = 0xff;

/** Whether a font draws symbols in the place of letters, as far as their equivalents in Unicode are known. */
export const isSymbolFont = (font: string): boolean => symbolFonts.has(font.toLowerCase());

/**
 * The text of one symbol. `code`: as files have it, from F000 to F0FF, or from 0 to FF in a symbol font. Null where the font or the code has no published equivalent
 * in Unicode.
 */
export function findSymbol(font: string, code: number): string | null {
  const sign = code >= firstSymbol && code <= lastSymbol ? code - firstSymbol : code;
  const known = isSymbolFont(font) ? codePoint(font, sign) : undefined;
  if (known) return known.string;
  const isCharacter = sign === code && code > 0x20 && code <= 0x10_ffff && !(isSymbolFont(font) && code <= lastSign);
  return isCharacter ? String.fromCodePoint(code) : null;
}

/** A text in its font, with symbols as Unicode has them. A symbol that is not known is left out, and `onUnread` is told its font. */
export function showSymbols(text: string, font: string, onUnread: (font: string) => void): string {
  const isSymbols = isSymbolFont(font);
  if (!isSymbols && !storedSymbol.test(text)) return text;
  return Array.from(text, (sign) => {
    const code = sign.codePointAt(0)!;
    const isStored = code >= firstSymbol && code <= lastSymbol;
    if (!isStored && (!isSymbols || code > lastSign || sign.trim() === '')) return sign;
    const shown = findSymbol(font, code);
    if (shown === null) onUnread(font);
    return shown ?? '';
  }).join('');
}

/**
 * The text of a run of DrawingML, which names one font for its letters and one for its symbols. Programs keep the latter for runs of letters, too, so there it counts
 * for stored symbols alone.
 */
export function showDrawnSymbols(text: string, fonts: { letters: string; symbols: string }, onUnread: (font: string) => void): string {
  const font = fonts.symbols || fonts.letters;
  if (isSymbolFont(fonts.letters)) return showSymbols(text, fonts.letters, onUnread);
  if (/^[\s\u0080-\u00ff\uf000-\uf0ff]+$/.test(text)) return showSymbols(text, font, onUnread);
  return text.replaceAll(storedSymbols, (symbols) => showSymbols(symbols, font, onUnread));
}
