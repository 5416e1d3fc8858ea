/** How a quote within a quoted cell is written: twice, or behind a backslash. */
export type Escape = 'doubled' | 'backslash';

/**
 * `end`: where the record ends, without its line end. `quoted`: the places of the opening and closing quotes. `broken`: a quote is not closed, or not where its
 * cell ends; no quoted cell that passes a line end before `known` is whole. `cut`: the text ends before the record does.
 */
export type ScannedRecord = { end: number; cells: number; quoted: [number, number][]; isMultiline: boolean } | { broken: number } | 'cut';

interface ScanRules {
  delimiter: string;
  escape: Escape;
  /** Whether the text ends the file. */
  isLast: boolean;
  /** Quoted cells that pass a line end before this place are known to be broken. */
  noLineEndsBefore: number;
  maxLength: number;
}

const [lineFeed, carriageReturn, quote, backslash, blank, tab, formFeed] = [10, 13, 34, 92, 32, 9, 12];

/** Finds the end of the record that begins at `start`, in one pass over it. */
export function scanRecord(text: string, start: number, rules: ScanRules): ScannedRecord {
  const { escape, isLast, noLineEndsBefore } = rules;
  const delimiter = rules.delimiter.charCodeAt(0);
  const maxEnd = start + rules.maxLength;
  const quoted: [number, number][] = [];
  let cells = 1;
  let isMultiline = false;
  let at = start;
  const skipBlanks = () => {
    for (let code = text.charCodeAt(at); isBlank(code) && code !== delimiter; code = text.charCodeAt(at)) at += 1;
  };
  for (;;) {
    skipBlanks();
    if (text.charCodeAt(at) === quote) {
      const opening = at;
      for (at += 1; ; at += 1) {
        if (at >= text.length) return isLast ? { broken: at } : 'cut';
        if (at > maxEnd) return { broken: at };
        const code = text.charCodeAt(at);
        if (code === quote) {
          if (at + 1 >= text.length && !isLast) return 'cut';
          if (escape === 'backslash' || text.charCodeAt(at + 1) !== quote) break;
          at += 1;
        } else if (code === backslash && escape === 'backslash') {
          at += 1;
        } else if (code === lineFeed || code === carriageReturn) {
          if (at < noLineEndsBefore) return { broken: at };
          isMultiline = true;
        }
      }
      quoted.push([opening, at]);
      at += 1;
      skipBlanks();
    } else {
      for (let code = text.charCodeAt(at); code !== delimiter && code !== lineFeed && code !== carriageReturn; code = text.charCodeAt(at)) {
        if (at >= text.length) break;
        at += 1;
      }
    }
    if (at >= text.length) return isLast ? { end: text.length, cells, quoted, isMultiline } : 'cut';
    const code = text.charCodeAt(at);
    if (code === lineFeed || code === carriageReturn)
      return code === carriageReturn && at + 1 >= text.length && !isLast ? 'cut' : { end: at, cells, quoted, isMultiline };
    if (code !== delimiter) return { broken: at };
    cells += 1;
    at += 1;
  }
}

const isBlank = (code: number): boolean => code === blank || code === tab || code === formFeed;
