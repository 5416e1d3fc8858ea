const reserved = /[^A-Za-z0-9._-]/gu;
const escaped = /~([0-9A-F]{2})/g;

/**
 * Encodes text in unreserved characters (RFC 3986, 2.3), which no program writes differently when it parses an address and builds it again.
 * @example toUnreserved('campaign:7') // 'campaign~3A7'
 */
export const toUnreserved = (text: string): string =>
  text.toWellFormed().replace(reserved, (character) => Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '~$&'));

/** Undoes `toUnreserved`. Other text, such as decoded percent encoding, stays as it is. */
export function fromUnreserved(text: string): string {
  const bytes = text.replace(/%/g, '%25').replace(escaped, '%$1');
  try {
    return decodeURIComponent(bytes);
  } catch {
    return text;
  }
}
