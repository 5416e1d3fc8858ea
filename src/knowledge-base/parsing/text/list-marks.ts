/** What stands before an item of a list: a bullet, or a number or letter with a point or bracket. */
const bullet = /^[-*+•◦▪▫■□●○◆◇‣⁃∙·–—►▸➢➤✓✔❖]\s+(?=\S)/;
const number = /^(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)])\s+(?=\S)/;

/** The item that `line` begins, without its bullet but with its number. Undefined when it begins none. */
export function listItemIn(line: string): string | undefined {
  const text = line.trimStart();
  if (bullet.test(text)) return text.replace(bullet, '');
  return number.test(text) ? text : undefined;
}
