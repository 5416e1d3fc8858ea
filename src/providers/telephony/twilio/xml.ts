const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // A parser turns these into spaces inside an attribute unless they are character references.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Characters that XML 1.0 cannot hold in any spelling (https://www.w3.org/TR/xml/#charsets). */
// oxlint-disable-next-line no-control-regex -- the rule is about control characters
const invalidXmlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Writes ` name="value"` for each attribute that has a value. */
export const xmlAttributes = (values: Record<string, string | number | boolean | undefined>): string =>
  Object.entries(values)
    .flatMap(([name, value]) => (value === undefined ? [] : [` ${name}="${xmlText(String(value))}"`]))
    .join('');

/** Escapes text for an attribute or an element. Characters that XML cannot hold are left out; half a surrogate pair becomes U+FFFD. */
export const xmlText = (text: string): string =>
  text
    .toWellFormed()
    .replace(invalidXmlCharacters, '')
    .replace(/[&<>"'\t\n\r]/g, (character) => entities[character]!);
