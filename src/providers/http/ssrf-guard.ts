import ipaddr from 'ipaddr.js';

const privateHostnames =
  /(^|\.)(localhost|localdomain|local|internal|lan|home|corp|intranet|private|svc|consul|home\.arpa|in-addr\.arpa|ip6\.arpa)$|^(metadata|instance-data)(\.|$)/i;

/** Services of clouds to their own machines that answer at public addresses (Azure's, IBM's and Equinix's documentation). */
const cloudMetadataAddresses = new Set(['168.63.129.16', '161.26.0.10', '161.26.0.11', '192.80.8.124', '192.80.8.125']);
const cloudMetadataHostnames = /(^|\.)metadata\.(google|goog|azure|tencentyun|platformequinix|packet)(\.|$)/i;

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
/** Within 2000::/3 and yet not the public's (IANA's special-purpose registry): protocols, documentation, addresses that hold one of IPv4. */
const reservedIpv6Ranges = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3ffe::/16', '3fff::/20'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
);

/**
 * Why a URL may not be called, or null. Refused are other schemes than http and https, credentials in the URL, and every address
 * that is not the public's: private, special, and those of a cloud's own services, unless the URL's origin is among `allowedOrigins`.
 */
export function blockedUrlReason(url: URL, allowedOrigins: readonly string[]): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `the scheme "${url.protocol}" is not http or https`;
  if (url.username || url.password) return 'credentials in the URL; use a header';
  if (allowedOrigins.includes(url.origin)) return null;
  const host = hostOf(url);
  // The URL parser has turned decimal, octal and hexadecimal spellings of IPv4 into dotted form, but for those with more than one dot behind them.
  if (ipaddr.isValid(host)) {
    const kind = privateAddressKind(host);
    return kind === null ? null : `${host} is a ${kind} address`;
  }
  if (privateHostnames.test(host) || !host.includes('.') || cloudMetadataHostnames.test(host)) return `"${host}" is a private name`;
  return /(^|\.)(0x[0-9a-f]*|\d+)$/i.test(host) || host.includes('..') ? `"${host}" is neither a name nor an address` : null;
}

/** The name or address of a URL without brackets, and without the dots behind it that mean nothing. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');

/** What makes an address one that the public cannot have, or null. Throws where it is no address. */
export function privateAddressKind(text: string): string | null {
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv6) return privateIpv6Kind(address);
  return privateIpv4Kind(address);
}

function privateIpv4Kind(address: ipaddr.IPv4): string | null {
  if (cloudMetadataAddresses.has(address.toString())) return 'cloud platform';
  return address.range() === 'unicast' ? null : address.range();
}

/** Addresses that hold one of IPv4 are refused as a kind, whatever they hold: nothing public is named so. */
function privateIpv6Kind(address: ipaddr.IPv6): string | null {
  const isPublic =
    address.match(globalUnicast) && !reservedIpv6Ranges.some((range) => address.match(range)) && address.range() === 'unicast';
  if (isPublic) return null;
  return address.range() === 'unicast' ? 'special' : address.range();
}
