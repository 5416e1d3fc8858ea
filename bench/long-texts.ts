/** As many sentences, picked by `random`, as `characters` take. */
export function buildPassage(sentences: string[], characters: number, random: () => number): string {
  const picked: string[] = [];
  for (let length = 0; length < characters; length += picked.at(-1)!.length + 1)
    picked.push(sentences[Math.floor(random() * sentences.length)]!);
  return picked.join(' ');
}

/** Words on lines of at most `width` characters; a longer word has a line by itself. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
