const reserved = /[^A-Za-z0-9._-]/gu;
const escaped = /~([0-9A-F]{2})/g;

/**
 * Text in unreserved characters alone (RFC 3986, 2.3), which nobody writes otherwise who takes an address apart and puts it together again.
 * @example toUnreserved('campaign:7') // 'campaign~3A7'
 */
export const toUnreserved = (text: string): string =>
  text.toWellFormed().replace(reserved, (character) => Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '~$&'));

/** Undoes `toUnreserved`; any other text, such as one in percents that has been read, stays as it is. */
export function fromUnreserved(text: string): string {
  const bytes = text.replace(/%/g, '%25').replace(escaped, '%$1');
  try {
    return decodeURIComponent(bytes);
  } catch {
    return text;
  }
}
