/** What a picture or a drawing says to those who do not see it: its title and its description; empty without both. */
export function toPictureText({ title = '', description = '' }: { title?: string | undefined; description?: string | undefined }): string {
  const [name, text] = [title.trim(), description.trim()];
  if (name === '' || text.includes(name)) return text;
  return text === '' ? name : `${name}: ${text}`;
}
