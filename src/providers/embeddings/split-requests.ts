/** The provider takes 2,048 texts a request, but their vectors are 16 MB of text, too much for a Worker's memory. */
const maxTexts = 512;
/** The provider takes 300,000; the estimate needs a margin. */
const maxTokens = 240_000;

const ascii = /[\0-\x7f]/g;
const asciiCharactersPerToken = 3;

/** Estimates the tokens of `text`, seldom too few. A token holds several Latin letters, but only one letter of other scripts. */
function estimateTokens(text: string): number {
  const others = text.replace(ascii, '').length;
  return Math.ceil((text.length - others) / asciiCharactersPerToken) + others;
}

/** Splits the texts, in order, into requests within the limits. A text over the limit is a request of its own, which the provider refuses. */
export function splitIntoRequests(texts: string[]): string[][] {
  const requests: string[][] = [];
  let tokens = Infinity;
  for (const text of texts) {
    const more = estimateTokens(text);
    const last = requests.at(-1);
    if (last && last.length < maxTexts && tokens + more <= maxTokens) {
      last.push(text);
      tokens += more;
    } else {
      requests.push([text]);
      tokens = more;
    }
  }
  return requests;
}
