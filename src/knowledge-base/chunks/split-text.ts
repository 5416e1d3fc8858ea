import { estimateTokens } from './estimate-tokens.ts';

/** A part of a text, by code units. Blanks around it belong to no part. */
export interface Span {
  start: number;
  end: number;
}

let segmenter: Intl.Segmenter | undefined;

/** The segmenter copies its input, so a longer text is split first. No sentence is that long. */
const maxSegmenterLength = 1 << 14;
/** In code units. A longer line is a paragraph without line ends and is split into sentences. */
const longLineLength = 200;

/** Splits a text into sentences; a short line counts as one. A sentence over `maxTokens` is cut between words, a longer word anywhere. */
export function splitText(text: string, maxTokens: number): Span[] {
  return splitLines(text).flatMap((line) =>
    fits(text, line, maxTokens) && line.end - line.start <= longLineLength ? [line] : splitSentences(text, line, maxTokens),
  );
}

export function splitLines(text: string): Span[] {
  const lines: Span[] = [];
  for (let start = 0; start <= text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    const line = trimSpan(text, start, end);
    if (line.end > line.start) lines.push(line);
    start = end + 1;
  }
  return lines;
}

const fits = (text: string, { start, end }: Span, maxTokens: number) =>
  end - start <= maxTokens || estimateTokens(text.slice(start, end)) <= maxTokens;

function splitSentences(text: string, within: Span, maxTokens: number): Span[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'sentence' });
  const sentences: Span[] = [];
  for (let from = within.start; from < within.end;) {
    const to = findWindowEnd(text, from, within.end);
    for (const { index, segment } of segmenter.segment(text.slice(from, to))) {
      const sentence = trimSpan(text, from + index, from + index + segment.length);
      if (sentence.end === sentence.start) continue;
      if (fits(text, sentence, maxTokens)) sentences.push(sentence);
      else sentences.push(...splitWords(text, sentence, maxTokens));
    }
    from = to;
  }
  return sentences;
}

function findWindowEnd(text: string, from: number, end: number): number {
  const to = from + maxSegmenterLength;
  if (to >= end) return end;
  const blank = text.lastIndexOf(' ', to);
  if (blank > from) return blank;
  return /[\udc00-\udfff]/.test(text.charAt(to)) ? to - 1 : to;
}

/** Splits a sentence into parts of as many words as fit. */
function splitWords(text: string, within: Span, maxTokens: number): Span[] {
  const parts: Span[] = [];
  let current: Span | undefined;
  let tokens = 0;
  const word = /\S+/g;
  word.lastIndex = within.start;
  for (let match = word.exec(text); match && match.index < within.end; match = word.exec(text)) {
    for (const piece of splitLongWord(text, { start: match.index, end: Math.min(match.index + match[0].length, within.end) }, maxTokens)) {
      const count = estimateTokens(text.slice(piece.start, piece.end));
      if (current && tokens + count <= maxTokens) {
        current.end = piece.end;
        tokens += count;
        continue;
      }
      if (current) parts.push(current);
      current = { ...piece };
      tokens = count;
    }
  }
  if (current) parts.push(current);
  return parts;
}

/** Splits a word, or a text without blanks such as an address, a key or Chinese. Surrogate pairs stay together. */
function splitLongWord(text: string, word: Span, maxTokens: number): Span[] {
  if (fits(text, word, maxTokens)) return [word];
  const pieces: Span[] = [];
  for (let start = word.start; start < word.end;) {
    let end = Math.min(start + maxTokens, word.end);
    if (end < word.end && /[\udc00-\udfff]/.test(text.charAt(end))) end -= 1;
    pieces.push({ start, end });
    start = end;
  }
  return pieces;
}

function trimSpan(text: string, start: number, end: number): Span {
  let [from, to] = [start, end];
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  return { start: from, end: to };
}

const isBlank = (code: number) => code <= 0x20 || code === 0xa0;
