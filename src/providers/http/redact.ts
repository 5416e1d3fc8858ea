const maxLineLength = 200;

/** A provider's text for people: one line of at most 200 characters, without the secrets. Empty for anything but text. */
export function redactLine(text: unknown, ...secrets: readonly string[]): string {
  if (typeof text !== 'string') return '';
  const redacted = secrets.filter((secret) => secret !== '').reduce((words, secret) => words.replaceAll(secret, '****'), text);
  const line = redacted.replace(/\s+/g, ' ').trim();
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength)}...` : line;
}
