import type { AppFailure } from './broker.ts';

/**
 * Whether the proxy has refused an address outside of the connection's registrable domain
 * (https://docs.composio.dev/docs/changelog/2026/04/24).
 */
export const isOriginMismatch = ({ code, message }: AppFailure): boolean => code === 'OriginMismatch' || /OriginMismatch/.test(message);

/** Whether two domains belong to one company, such as `zoho.com` and `zohoapis.com`. Data centres of one company do not count. */
export function isSiblingDomain(base: string, url: string): boolean {
  const [one, other] = [domainOwner(base), domainOwner(url)];
  return one !== '' && other !== '' && one !== other && (one.startsWith(other) || other.startsWith(one));
}

/** The label before the public suffix of a host name: `zohoapis` of `https://www.zohoapis.com.au/books`. */
function domainOwner(address: string): string {
  const labels = /^https:\/\/([^/]+)/i.exec(address)?.[1]?.toLowerCase().split('.') ?? [];
  const ends = /^com?$/.test(labels.at(-2) ?? '') ? 2 : 1;
  return labels.at(-1 - ends) ?? '';
}

const pathSegments = (path: string): string[] => path.split('/').filter((segment) => segment !== '');

/**
 * The part of an address below a base, for the proxy, which prepends the base: the segments after the longest run with which the base
 * ends.
 * @example relativeEndpoint('https://books.zoho.com/api/v3', 'https://www.zohoapis.com/books/v3/contacts') // '/contacts'
 */
export function relativeEndpoint(base: string, url: string): string {
  const ends = pathSegments(base.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/[?#].*$/s, ''));
  const segments = pathSegments(new URL(url).pathname);
  for (let length = Math.min(ends.length, segments.length); length > 0; length--) {
    const run = ends.slice(-length);
    const start = segments.findIndex((_segment, index) => run.every((segment, offset) => segments[index + offset] === segment));
    if (start !== -1) return `/${segments.slice(start + length).join('/')}`;
  }
  return `/${segments.join('/')}`;
}
