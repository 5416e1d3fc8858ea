const codePageEncodings: Record<number, string> = {
  932: 'shift_jis',
  936: 'gb18030',
  949: 'euc-kr',
  950: 'big5',
  65001: 'utf-8',
  10000: 'macintosh',
};

/** `\fcharset` of a font, as a Windows code page (RTF 1.9.1, "Font Table"). */
const charsetCodePages: Record<number, number> = {
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

const decoders = new Map<number, TextDecoder>();

/** The code page of a font; undefined when the document's own applies. */
export const codePageOf = (charset: number): number | undefined => charsetCodePages[charset];

/** An unknown code page is read as Western. */
export function decodeCodePage(bytes: Uint8Array, page: number): string {
  let decoder = decoders.get(page);
  if (!decoder) {
    decoder = createDecoder(codePageEncodings[page] ?? `windows-${page}`);
    decoders.set(page, decoder);
  }
  return decoder.decode(bytes);
}

function createDecoder(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
