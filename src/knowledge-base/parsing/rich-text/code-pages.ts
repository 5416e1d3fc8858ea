/** Fonts of symbols have no letters; most of what is written in them is a bullet, which is the middle dot of Western text. */
const symbolPage = 42;
const codePageEncodings: Record<number, string> = {
  932: 'shift_jis',
  936: 'gb18030',
  949: 'euc-kr',
  950: 'big5',
  [symbolPage]: 'windows-1252',
  866: 'ibm866',
  874: 'windows-874',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
  20866: 'koi8-r',
  20932: 'euc-jp',
  21866: 'koi8-u',
  51932: 'euc-jp',
  51949: 'euc-kr',
  54936: 'gb18030',
  65001: 'utf-8',
};
/** ISO 8859-1 to -16 have these numbers. */
const [firstIsoPage, lastIsoPage] = [28591, 28606];

/** `\fcharset` of a font, as a Windows code page (RTF 1.9.1, "Font Table"). */
const charsetCodePages: Record<number, number> = {
  2: symbolPage,
  77: 10000,
  128: 932,
  129: 949,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
};

const decoders = new Map<number, { decoder: TextDecoder; isKnown: boolean }>();

/** The code page of a font; undefined when the document's own applies. */
export const codePageOf = (charset: number): number | undefined => charsetCodePages[charset];

/** An unknown code page is read as Western. */
export const decodeCodePage = (bytes: Uint8Array, page: number): string => decoderOf(page).decoder.decode(bytes);

/** Whether the letters of a code page are known; those of DOS are not. */
export const isKnownCodePage = (page: number): boolean => decoderOf(page).isKnown;

function decoderOf(page: number): { decoder: TextDecoder; isKnown: boolean } {
  const known = decoders.get(page);
  if (known) return known;
  const decoder = createDecoder(encodingOf(page));
  const made = { decoder: decoder ?? new TextDecoder('windows-1252'), isKnown: decoder !== undefined };
  decoders.set(page, made);
  return made;
}

const encodingOf = (page: number): string =>
  codePageEncodings[page] ?? (page >= firstIsoPage && page <= lastIsoPage ? `iso-8859-${page - firstIsoPage + 1}` : `windows-${page}`);

function createDecoder(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}
