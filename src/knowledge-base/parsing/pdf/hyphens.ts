const eastAsian = /[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]/;
const maxWords = 50_000;
/** Only the end of a long text is examined. */
const maxWordLength = 100;

/** Joins lines. Remembers the hyphenated words of a document, to distinguish them from words broken at the end of a line. */
export class HyphenJoiner {
  private readonly words = new Set<string>();

  learn(text: string): void {
    if (this.words.size > maxWords) return;
    for (const [word] of text.matchAll(/(?<!\p{L})\p{L}+-\p{L}+/gu)) this.words.add(word.toLowerCase());
  }

  /** Joins two lines and a word broken between them. Chinese and Japanese lines are joined without a blank. */
  join(before: string, after: string): string {
    const [, first = ''] = /(\p{L}+)[-\u00ad\u2010]$/u.exec(before.slice(-maxWordLength)) ?? [];
    if (first !== '' && /^\p{Ll}/u.test(after)) {
      const [second = ''] = /^\p{L}+/u.exec(after) ?? [];
      const isWritten = first.length === 1 || this.words.has(`${first}-${second}`.toLowerCase());
      return (isWritten ? before : before.slice(0, -1)) + after;
    }
    if (first !== '' && /^[\p{L}\p{N}]/u.test(after)) return before + after;
    if (eastAsian.test(before.at(-1) ?? '') && eastAsian.test(after.at(0) ?? '')) return before + after;
    return `${before} ${after}`;
  }
}
