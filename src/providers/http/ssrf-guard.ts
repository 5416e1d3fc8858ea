import ipaddr from 'ipaddr.js';

const privateHostnames =
  /(^|\.)(localhost|localdomain|local|internal|lan|home|corp|intranet|private|svc|consul|home\.arpa|in-addr\.arpa|ip6\.arpa)$|^(metadata|instance-data)(\.|$)/i;

/** Services that clouds offer to their own machines at public addresses (documentation of Azure, IBM and Equinix). */
const cloudMetadataAddresses = new Set(['168.63.129.16', '161.26.0.10', '161.26.0.11', '192.80.8.124', '192.80.8.125']);
const cloudMetadataHostnames = /(^|\.)metadata\.(google|goog|azure|tencentyun|platformequinix|packet)(\.|$)/i;

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
/** Ranges in 2000::/3 that are not public (IANA's special-purpose registry): protocols, documentation, and embedded IPv4 addresses. */
const reservedIpv6Ranges = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3ffe::/16', '3fff::/20'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
);

/**
 * Why a URL may not be called; null: it may. Refuses other schemes than http and https, credentials in the URL, and addresses that are not
 * public (private, special, or of a cloud's own services), unless `allowedOrigins` has the URL's origin.
 */
export function blockedUrlReason(url: URL, allowedOrigins: readonly string[]): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `the scheme "${url.protocol}" is not http or https`;
  if (url.username || url.password) return 'credentials in the URL; use a header';
  if (allowedOrigins.includes(url.origin)) return null;
  const host = hostOf(url);
  // The URL parser has converted decimal, octal and hexadecimal IPv4 addresses to dotted form, except those with several trailing dots.
  if (ipaddr.isValid(host)) {
    const kind = privateAddressKind(host);
    return kind === null ? null : `${host} is a ${kind} address`;
  }
  if (privateHostnames.test(host) || !host.includes('.') || cloudMetadataHostnames.test(host)) return `"${host}" is a private name`;
  return /(^|\.)(0x[0-9a-f]*|\d+)$/i.test(host) || host.includes('..') ? `"${host}" is neither a name nor an address` : null;
}

/** The host of a URL, without brackets and without trailing dots. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '');

/** The kind of a non-public address; null: the address is public. Throws for a text that is no address. */
export function privateAddressKind(text: string): string | null {
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv6) return privateIpv6Kind(address);
  return privateIpv4Kind(address);
}

function privateIpv4Kind(address: ipaddr.IPv4): string | null {
  if (cloudMetadataAddresses.has(address.toString())) return 'cloud platform';
  return address.range() === 'unicast' ? null : address.range();
}

/** Addresses with an embedded IPv4 address are refused, whatever it is: no public host uses them. */
function privateIpv6Kind(address: ipaddr.IPv6): string | null {
  const isPublic =
    address.match(globalUnicast) && !reservedIpv6Ranges.some((range) => address.match(range)) && address.range() === 'unicast';
  if (isPublic) return null;
  return address.range() === 'unicast' ? 'special' : address.range();
}
