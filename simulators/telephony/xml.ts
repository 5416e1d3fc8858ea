export interface XmlElement {
  name: string;
  attributes: Record<string, string>;
  children: XmlElement[];
  /** The text of this element alone, trimmed. */
  text: string;
}

/** What is wrong with a document. */
export class XmlError extends Error {}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const token =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<\/([\w:.-]+)\s*>|<([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/y;

/** The root element of a small document, without namespaces, doctypes and CDATA. Throws XmlError. */
export function parseXml(document: string): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  token.lastIndex = 0;
  while (token.lastIndex < document.length) {
    const at = token.lastIndex;
    const match = token.exec(document);
    if (match === null) throw new XmlError(`Unexpected text at character ${at}: ${document.slice(at, at + 40)}`);
    const [, closing, opening, attributes = '', selfClosing, text] = match;
    const parent = open.at(-1)!;
    if (closing !== undefined) {
      if (open.length === 1 || parent.name !== closing) throw new XmlError(`</${closing}> closes nothing`);
      parent.text = parent.text.trim();
      open.pop();
    } else if (opening !== undefined) {
      const element = { name: opening, attributes: attributesOf(attributes), children: [], text: '' };
      parent.children.push(element);
      if (selfClosing === '') open.push(element);
    } else if (text !== undefined) {
      parent.text += decode(text);
    }
  }
  if (open.length > 1) throw new XmlError(`<${open.at(-1)!.name}> is not closed`);
  const [element, more] = root.children;
  if (element === undefined || more !== undefined || root.text.trim() !== '') throw new XmlError('A document is one element');
  return element;
}

function attributesOf(text: string): Record<string, string> {
  const pairs = [...text.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)];
  // As a parser does: a line break inside an attribute is a space, unless it is written as a reference.
  return Object.fromEntries(pairs.map(([, name, double, single]) => [name!, decode((double ?? single ?? '').replace(/[\t\n\r]/g, ' '))]));
}

function decode(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-f]+)|(\w+));|&/gi, (reference, decimal?: string, hexadecimal?: string, name?: string) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hexadecimal !== undefined) return String.fromCodePoint(Number.parseInt(hexadecimal, 16));
    const character = Object.hasOwn(entities, name ?? '') ? entities[name!] : undefined;
    if (character === undefined) throw new XmlError(`"${reference}" is no reference to a character`);
    return character;
  });
}
