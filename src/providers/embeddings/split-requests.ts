/** The provider takes 2,048 texts a request; as many vectors are 16 MB of text, too much at once for a Worker's memory. */
const maxTexts = 512;
/** Of 300,000, since the tokens are estimated. */
const maxTokens = 240_000;

const ascii = /[\0-\x7f]/g;
const asciiCharactersPerToken = 3;

/** About as many tokens as the tokenizer makes of `text`, and seldom fewer: it packs Latin letters, and not the other scripts. */
function estimateTokens(text: string): number {
  const others = text.replace(ascii, '').length;
  return Math.ceil((text.length - others) / asciiCharactersPerToken) + others;
}

/** The texts, in their order, in runs that one request takes. A text that is too long by itself has its own, which is for the provider to refuse. */
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
