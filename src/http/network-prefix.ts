import ipaddr from 'ipaddr.js';

/** The network of one household or machine: an IPv4 address, or the /64 of an IPv6 address. */
export function toNetworkPrefix(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64);
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
