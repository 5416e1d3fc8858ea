/** What a stream of drawing commands asks of its reader. */
export interface Content {
  bytes: number;
  /** How many states it saves (`q`) more than it restores (`Q`): at most, and at its end. */
  deepest: number;
  left: number;
  /** How often it draws what has this name. */
  draws: Map<string, number>;
  showsText: boolean;
}

/**
 * `text`: unpacked, as Latin 1. Told by the words alone, wherever they stand: what a comment or a string might hide from this could be
 * shown to the reader.
 */
export function contentOf(text: string): Content {
  const content: Content = { bytes: text.length, deepest: 0, left: 0, draws: new Map(), showsText: /T[jJ]|[\s\0)>\]]['"]/.test(text) };
  for (const { 1: word, 2: name } of text.matchAll(
    /(?<![^\s\0)\]>}])([qQ])(?![^\s\0(/[<{%])|\/([^\s\0()[\]<>{}/%]*)[\s\0]*Do(?![^\s\0(/[<{%])/g,
  )) {
    if (word === 'q') content.left += 1;
    else if (word === 'Q') content.left = Math.max(0, content.left - 1);
    else if (name !== undefined) content.draws.set(name, (content.draws.get(name) ?? 0) + 1);
    content.deepest = Math.max(content.deepest, content.left);
  }
  return content;
}
