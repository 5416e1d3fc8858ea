/** The mark of a list item: a bullet, or a number or letter with a point or bracket. */
const bulletPattern = /^[-*+•◦▪▫■□●○◆◇‣⁃∙·–—►▸➢➤✓✔❖]\s+(?=\S)/;
const numberPattern = /^(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s+(?=\S)/;

/** The list item that `line` begins, without its bullet but with its number; undefined when it begins none. */
export function parseListItem(line: string): string | undefined {
  const text = line.trimStart();
  if (bulletPattern.test(text)) return text.replace(bulletPattern, '');
  return numberPattern.test(text) ? text : undefined;
}
