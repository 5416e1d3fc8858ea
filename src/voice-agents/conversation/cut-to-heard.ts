/**
 * What remains of utterances when only `heard` of them was heard: those before the one in which the hearing ended, and that one up to there.
 * The carrier tells the words of the utterance that was interrupted, or of several in a row; spaces and case may differ. Words that cannot
 * be found (numbers are spoken otherwise than written) are counted instead. Of an utterance that was not heard an empty text remains.
 */
export function cutToHeard(utterances: readonly string[], heard: string): string[] {
  const last = utterances.length - 1;
  if (heard.trim() === '') return utterances.map((text, index) => (index === last ? '' : text));
  for (const index of utterances.keys()) {
    const cut = cutInRow(utterances.slice(index), heard);
    if (cut) return [...utterances.slice(0, index), ...cut];
  }
  return cutByCount(utterances, heard.trim().split(/\s+/).length);
}

/** When `heard` begins with the first utterance, and goes on into those behind it if it is longer. */
function cutInRow(utterances: readonly string[], heard: string): string[] | null {
  let rest = heard;
  for (const [index, text] of utterances.entries()) {
    const end = endOfMatch(text, rest);
    if (end !== null) return utterances.map((one, at) => (at < index ? one : at === index ? one.slice(0, end) : ''));
    const passed = endOfMatch(rest, text);
    if (passed === null) return null;
    rest = rest.slice(passed);
  }
  return rest.trim() === '' ? [...utterances] : null;
}

/** Where `beginning` ends in `text`, when `text` begins with it; spaces and case count for nothing. */
function endOfMatch(text: string, beginning: string): number | null {
  let at = 0;
  for (const character of beginning) {
    if (isSpace(character)) continue;
    while (at < text.length && isSpace(text[at]!)) at++;
    if (text.slice(at, at + character.length).toLowerCase() !== character.toLowerCase()) return null;
    at += character.length;
  }
  return at;
}

const isSpace = (character: string): boolean => /^\s$/.test(character);

function cutByCount(utterances: readonly string[], words: number): string[] {
  let left = words;
  return utterances.map((text) => {
    const found = [...text.matchAll(/\S+/g)];
    const end = found[Math.min(left, found.length) - 1];
    left = Math.max(0, left - found.length);
    return end ? text.slice(0, end.index + end[0].length) : '';
  });
}
