import ipaddr from 'ipaddr.js';

const localNames = /(^|\.)(localhost|local|internal|lan|home|corp|intranet)$|^metadata(\.|$)/i;

/**
 * Why a URL may not be called, or null. Refused are other schemes than http and https, credentials in the URL, and private,
 * loopback, link-local and metadata addresses, unless the URL's origin is among `allowedOrigins`.
 */
export function refusal(url: URL, allowedOrigins: readonly string[]): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `the scheme "${url.protocol}" is not http or https`;
  if (url.username || url.password) return 'credentials in the URL; use a header';
  if (allowedOrigins.includes(url.origin)) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  // The URL parser has turned decimal, octal and hexadecimal spellings of IPv4 into dotted form.
  if (ipaddr.isValid(host)) {
    const address = ipaddr.process(host);
    return address.range() === 'unicast' ? null : `${host} is a ${address.range()} address`;
  }
  if (localNames.test(host) || !host.includes('.')) return `"${host}" is a private name`;
  return null;
}
