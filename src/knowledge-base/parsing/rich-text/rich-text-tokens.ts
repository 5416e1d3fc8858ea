/** A piece of RTF. `word`: a control word with its number; `bytes`: text in the code page of its place. Symbols come as words: `'` apart. */
export type RichTextToken =
  | { kind: 'open' }
  | { kind: 'close' }
  | { kind: 'word'; word: string; number: number | undefined }
  | { kind: 'bytes'; bytes: Uint8Array };

const isLetter = (byte = 0) => (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);
const isDigit = (byte = 0) => byte >= 0x30 && byte <= 0x39;
const [backslash, openBrace, closeBrace, apostrophe, blank, minus] = [0x5c, 0x7b, 0x7d, 0x27, 0x20, 0x2d];

/** Rich Text Format 1.9.1, "RTF Syntax". */
export function* tokenizeRichText(bytes: Uint8Array): Generator<RichTextToken> {
  let place = 0;
  while (place < bytes.length) {
    const byte = bytes[place];
    if (byte === openBrace || byte === closeBrace) {
      place += 1;
      yield { kind: byte === openBrace ? 'open' : 'close' };
    } else if (byte === 0x0a || byte === 0x0d) {
      place += 1;
    } else if (byte !== backslash) {
      const start = place;
      while (place < bytes.length && !endsText(bytes[place])) place += 1;
      yield { kind: 'bytes', bytes: bytes.subarray(start, place) };
    } else if (bytes[place + 1] === apostrophe) {
      const code = Number.parseInt(String.fromCharCode(bytes[place + 2] ?? 0, bytes[place + 3] ?? 0), 16);
      if (!Number.isNaN(code)) yield { kind: 'bytes', bytes: Uint8Array.of(code) };
      place += 4;
    } else if (!isLetter(bytes[place + 1])) {
      yield { kind: 'word', word: String.fromCharCode(bytes[place + 1] ?? blank), number: undefined };
      place += 2;
    } else {
      const { word, number, end } = readControlWord(bytes, place + 1);
      // Bytes after \bin are never text.
      place = word === 'bin' ? end + Math.max(number ?? 0, 0) : end;
      yield { kind: 'word', word, number };
    }
  }
}

const endsText = (byte: number | undefined) =>
  byte === backslash || byte === openBrace || byte === closeBrace || byte === 0x0a || byte === 0x0d;

function readControlWord(bytes: Uint8Array, start: number): { word: string; number: number | undefined; end: number } {
  let end = start;
  while (isLetter(bytes[end])) end += 1;
  const word = String.fromCharCode(...bytes.subarray(start, Math.min(end, start + 64)));
  const numberStart = end;
  if (bytes[end] === minus && isDigit(bytes[end + 1])) end += 1;
  while (isDigit(bytes[end])) end += 1;
  const number =
    end > numberStart ? Number(String.fromCharCode(...bytes.subarray(numberStart, Math.min(end, numberStart + 12)))) : undefined;
  return { word, number, end: bytes[end] === blank ? end + 1 : end };
}
