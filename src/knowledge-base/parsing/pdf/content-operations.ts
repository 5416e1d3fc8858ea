/** An operator of a stream of drawing commands. `start`: where its first operand begins; `end`: where the operator ends. */
export interface Operation {
  name: string;
  operands: Operand[];
  start: number;
  end: number;
}

/** A number, name, string or bracket, as it is written, and where it begins. */
export interface Operand {
  text: string;
  start: number;
}

const maxOperands = 5000;
const delimiters = /<<|>>|<[\da-fA-F\s\0]*>|\/[^\s\0()[\]<>{}/%]*|[[\]{}]|%[^\r\n]*|\(|[^\s\0()[\]<>{}/%]+/y;
const blanks = /[\s\0]+/y;
/** The end of a picture that stands between the commands. */
const endOfPicture = /[\s\0]EI(?=[\s\0]|$)/g;
const number = /^[-+.\d]/;

/** The operators of an unpacked stream (Latin 1), in order. Stops where the stream is no list of commands. */
export function* readOperations(text: string): Generator<Operation> {
  let operands: Operand[] = [];
  let at = 0;
  while (at < text.length) {
    at = skipBlanks(text, at);
    delimiters.lastIndex = at;
    const start = at;
    const token = delimiters.exec(text)?.[0];
    if (token === undefined) return;
    at += token.length;
    if (token === '(') at = findStringEnd(text, start);
    if (at === -1) return;
    if (token.startsWith('%')) continue;
    if (/^[\w'"]/.test(token) && !number.test(token) && !/^(?:true|false|null)$/.test(token)) {
      yield { name: token, operands, start: operands[0]?.start ?? start, end: at };
      operands = [];
      if (token === 'ID') at = findPictureEnd(text, at);
    } else operands.push({ text: text.slice(start, at), start });
    if (operands.length > maxOperands) return;
  }
}

function skipBlanks(text: string, at: number): number {
  blanks.lastIndex = at;
  return at + (blanks.exec(text)?.[0].length ?? 0);
}

/** The index behind the string that begins at `start`; -1: it does not end. */
function findStringEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '\\') at += 1;
    else if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return -1;
}

function findPictureEnd(text: string, at: number): number {
  endOfPicture.lastIndex = at;
  return endOfPicture.exec(text) ? endOfPicture.lastIndex : text.length;
}

/** The string that is written at a place; undefined: there is none. */
export function readTextString(text: string, at: number): string | undefined {
  if (text[at] === '(') {
    const end = findStringEnd(text, at);
    return end === -1 ? undefined : text.slice(at, end);
  }
  const end = text[at] === '<' && text[at + 1] !== '<' ? text.indexOf('>', at) : -1;
  return end === -1 ? undefined : text.slice(at, end + 1);
}

/** The bytes of a string as it is written, as Latin 1. */
export function decodeString(written: string): string {
  if (written.startsWith('<')) {
    const digits = written.replace(/[^\da-f]/gi, '');
    return (digits.match(/..?/g) ?? []).map((pair) => String.fromCharCode(parseInt(pair.padEnd(2, '0'), 16))).join('');
  }
  return written.slice(1, -1).replace(/\\(?:([0-7]{1,3})|\r\n|([\s\S]))/g, (_, octal?: string, sign?: string) => {
    if (octal !== undefined) return String.fromCharCode(parseInt(octal, 8) & 0xff);
    return sign === undefined || sign === '\n' || sign === '\r' ? '' : (escapes[sign] ?? sign);
  });
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** A text string of a dictionary: UTF-16 or UTF-8 where it begins with their mark, else Latin 1, which the format's own encoding is for most letters. */
export function decodeTextString(written: string): string {
  const bytes = decodeString(written);
  const raw = Uint8Array.from(bytes, (sign) => sign.charCodeAt(0));
  if (bytes.startsWith('\xfe\xff')) return new TextDecoder('utf-16be').decode(raw);
  if (bytes.startsWith('\xff\xfe')) return new TextDecoder('utf-16le').decode(raw);
  if (bytes.startsWith('\xef\xbb\xbf')) return new TextDecoder().decode(raw);
  return Array.from(bytes, (sign) => documentEncoding.get(sign.charCodeAt(0)) ?? sign).join('');
}

const runOf = (first: number, signs: string): [number, string][] => Array.from(signs, (sign, index) => [first + index, sign]);
/** Where PDFDocEncoding (ISO 32000-1, annex D.3) differs from Latin 1. */
const documentEncoding = new Map([...runOf(0x18, '˘ˇˆ˙˝˛˚˜'), ...runOf(0x80, '•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž'), ...runOf(0xa0, '€')]);
