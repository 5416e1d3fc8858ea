/**
 * A text that a regular expression of the usual parts matches: literals, classes, groups, alternatives, quantifiers and anchors. `more` is
 * added to every repetition that may be longer. Lookarounds and references are left out, so a pattern with them may not match.
 */
export function samplePattern(pattern: string, more = 0): string {
  const reader = { text: [...pattern], at: 0 };
  return readAlternatives(reader, more);
}

interface Reader {
  text: string[];
  at: number;
}

/** The first alternative is the sample; the others are read past. */
function readAlternatives(reader: Reader, more: number): string {
  const first = readSequence(reader, more);
  while (reader.text[reader.at] === '|') {
    reader.at++;
    readSequence(reader, more);
  }
  return first;
}

function readSequence(reader: Reader, more: number): string {
  let sample = '';
  while (reader.at < reader.text.length && reader.text[reader.at] !== '|' && reader.text[reader.at] !== ')') {
    const piece = readPiece(reader, more);
    sample += piece.repeat(readTimes(reader, more));
  }
  return sample;
}

function readPiece(reader: Reader, more: number): string {
  const character = reader.text[reader.at++]!;
  if (character === '^' || character === '$') return '';
  if (character === '.') return 'x';
  if (character === '[') return readClass(reader);
  if (character === '(') return readGroup(reader, more);
  return character === '\\' ? readEscape(reader) : character;
}

function readGroup(reader: Reader, more: number): string {
  const rest = reader.text.slice(reader.at).join('');
  const lead = /^\?(?::|<[A-Za-z]\w*>|[=!]|<[=!])/.exec(rest)?.[0] ?? '';
  reader.at += lead.length;
  const inside = readAlternatives(reader, more);
  reader.at++;
  return /^\?<?[=!]/.test(lead) ? '' : inside;
}

const escapes: Record<string, string> = { d: '1', D: 'x', w: 'x', W: ' ', s: ' ', S: 'x', b: '', B: '', n: '\n', t: '\t', r: '\r' };

function readEscape(reader: Reader): string {
  const character = reader.text[reader.at++] ?? '';
  if (character === 'p' || character === 'P') {
    while (reader.at < reader.text.length && reader.text[reader.at++] !== '}');
    return 'x';
  }
  return escapes[character] ?? character;
}

/** The class's first member, or for a negated one a character outside of it. */
function readClass(reader: Reader): string {
  const start = reader.at;
  while (reader.at < reader.text.length && reader.text[reader.at] !== ']') reader.at += reader.text[reader.at] === '\\' ? 2 : 1;
  const inside = reader.text.slice(start, reader.at++).join('');
  const matcher = new RegExp(`[${inside}]`, 'u');
  return [...'x1a0Z -_.@:/+,'].find((candidate) => matcher.test(candidate)) ?? [...inside.replace(/^\^/, '')][0] ?? 'x';
}

function readTimes(reader: Reader, more: number): number {
  const quantifier = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(reader.text.slice(reader.at, reader.at + 16).join(''));
  if (!quantifier) return 1;
  reader.at += [...quantifier[0]].length;
  if (quantifier[0].startsWith('?')) return Math.min(more, 1);
  if (quantifier[1] === undefined) return (quantifier[0].startsWith('+') ? 1 : 0) + more;
  const least = Number(quantifier[1]);
  if (quantifier[2] === undefined) return least;
  return quantifier[3] === '' ? least + more : Math.min(least + more, Number(quantifier[3]));
}
