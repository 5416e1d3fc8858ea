/** A part of a regular expression that takes more than linear time, or that RE2 does not support. The message names the part. */
export class UnsupportedConstructError extends Error {}

const whitespace = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const nonWhitespace = [
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}`,
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`,
].join('');
const anything = String.raw`\x{0}-\x{10ffff}`;
const lineEnds = String.raw`\n\r\x{2028}\x{2029}`;

/** RE2's names of general categories, by their full names in Unicode. */
const categories = new Map(
  (
    'Letter L,Cased_Letter LC,Uppercase_Letter Lu,Lowercase_Letter Ll,Titlecase_Letter Lt,Modifier_Letter Lm,Other_Letter Lo,Mark M,' +
    'Nonspacing_Mark Mn,Spacing_Mark Mc,Enclosing_Mark Me,Number N,Decimal_Number Nd,Letter_Number Nl,Other_Number No,Punctuation P,' +
    'Connector_Punctuation Pc,Dash_Punctuation Pd,Open_Punctuation Ps,Close_Punctuation Pe,Initial_Punctuation Pi,Final_Punctuation Pf,' +
    'Other_Punctuation Po,Symbol S,Math_Symbol Sm,Currency_Symbol Sc,Modifier_Symbol Sk,Other_Symbol So,Separator Z,Space_Separator Zs,' +
    'Line_Separator Zl,Paragraph_Separator Zp,Other C,Control Cc,Format Cf,Surrogate Cs,Private_Use Co,Unassigned Cn'
  )
    .split(',')
    .map((pair) => pair.split(' ') as [string, string]),
);

/**
 * Translates a JavaScript expression (flag `u`, which must parse) into RE2's syntax with the same meaning: `\s` and `.` cover Unicode's
 * spaces and line ends, and so on. Groups capture nothing. Throws UnsupportedConstructError.
 */
export function translatePattern(pattern: string): string {
  const parts = pattern.matchAll(
    /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|[up]\{[^}]*\}|P\{[^}]*\}|x[\da-fA-F]{2}|c[a-zA-Z]|k<[^>]*>|.)|\[\^?|\]|\((?:\?(?:<[=!]|<[^>]*>|[^<]))?|\{\d+,?\d*\}|./gsu,
  );
  let translated = '';
  for (let part = parts.next(); !part.done; part = parts.next()) {
    const [text] = part.value;
    if (text.startsWith('[')) translated += readClass(text, parts);
    else if (text.startsWith('(')) translated += translateGroup(text);
    else if (text.startsWith('\\')) translated += translateEscapeOutsideClass(text);
    else if (text === '.') translated += `[^${lineEnds}]`;
    else translated += text.startsWith('{') || '|)^$*+?'.includes(text) ? text : toLiteral(text);
  }
  return translated;
}

/** The class that `opening` begins, up to its bracket. */
function readClass(opening: string, parts: Iterator<RegExpExecArray>): string {
  const atoms: string[] = [];
  for (let part = parts.next(); !part.done && part.value[0] !== ']'; part = parts.next()) {
    const [text] = part.value;
    // What is more than one character outside a class is just characters inside.
    atoms.push(...(text.startsWith('\\') ? [text] : text));
  }
  let inside = '';
  while (atoms.length > 0) {
    inside += translateAtom(atoms.shift()!);
    if (atoms.length > 1 && atoms[0] === '-') inside += `-${translateAtom(atoms.splice(0, 2)[1]!)}`;
  }
  if (inside === '') return opening === '[' ? `[^${anything}]` : `[${anything}]`;
  return `${opening}${inside}]`;
}

function translateAtom(text: string): string {
  if (text === '\\s') return whitespace;
  if (text === '\\S') return nonWhitespace;
  if (text === '\\b') return toHexEscape(8);
  return text.startsWith('\\') ? translateEscape(text) : toLiteral(text);
}

function translateEscapeOutsideClass(text: string): string {
  if (text === '\\s' || text === '\\S') return `[${text === '\\s' ? whitespace : nonWhitespace}]`;
  if (/^\\[1-9k]/.test(text))
    throw new UnsupportedConstructError('has a back reference, which cannot be matched in one pass; write it without');
  return translateEscape(text);
}

function translateEscape(text: string): string {
  const letter = text[1]!;
  if (letter === 'u' || letter === 'x') return toHexEscape(parseCodePoint(text));
  if (letter === 'c') return toHexEscape(text.charCodeAt(2) % 32);
  if (letter === 'p' || letter === 'P') return `\\${letter}{${translateProperty(text.slice(3, -1))}}`;
  if (letter === '0') return toHexEscape(0);
  return /[a-zA-Z]/.test(letter) ? text : toLiteral(text.slice(1));
}

/** The code point of `\x41`, `\u0041`, `\u{41}`, or of two halves `\ud83d\ude00`. */
function parseCodePoint(text: string): number {
  const units = text.match(/[\da-fA-F]+/g)!.map((digits) => parseInt(digits, 16));
  return units.length === 1 ? units[0]! : String.fromCharCode(...units).codePointAt(0)!;
}

const toHexEscape = (codePoint: number): string => `\\x{${codePoint.toString(16)}}`;
const toLiteral = (character: string): string => (/[a-zA-Z0-9]/.test(character) ? character : toHexEscape(character.codePointAt(0)!));

function translateGroup(text: string): string {
  if (text === '(' || text === '(?:' || text.endsWith('>')) return '(?:';
  if (text === '(?=' || text === '(?!')
    throw new UnsupportedConstructError(`looks ahead with ${text}, which cannot be done in one pass; write it without`);
  if (text === '(?<=' || text === '(?<!')
    throw new UnsupportedConstructError(`looks behind with ${text}, which cannot be done in one pass; write it without`);
  throw new UnsupportedConstructError('switches flags inside, as (?i: does; write out the letters, like [aA]');
}

function translateProperty(name: string): string {
  const [key, value] = name.includes('=') ? (name.split('=') as [string, string]) : [null, name];
  if (key === null || key === 'gc' || key === 'General_Category') return categories.get(value) ?? value;
  if (key === 'sc' || key === 'Script') return value;
  throw new UnsupportedConstructError(`names the Unicode property ${name}; use a category or a script, like \\p{L} or \\p{Script=Greek}`);
}
