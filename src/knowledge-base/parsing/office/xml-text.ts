const escape = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export const toOpeningTag = (name: string, attributes: Record<string, string>): string =>
  `<${name}${Object.entries(attributes)
    .map(([attribute, value]) => ` ${attribute}="${escape(value)}"`)
    .join('')}>`;

/** Text of WordprocessingML, with its blanks. */
export const toTextTag = (text: string): string => `<w:t xml:space="preserve">${escape(text)}</w:t>`;

export { escape as escapeXml };
