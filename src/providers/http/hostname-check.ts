import { promises as dns } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { hostOf, privateAddressKind } from './ssrf-guard.ts';

/** Why the name in a URL may not be called, going by the addresses that it leads to; null: it may, or nobody could tell. */
export type HostnameCheck = (url: URL) => Promise<string | null>;

const cacheTtlMs = 60_000;
const maxCachedHostnames = 1000;
const timeoutMs = 1500;

const resultsByHostname = new Map<string, { refusal: string | null; until: number }>();

/**
 * Asks the DNS for a host's addresses (node:dns, on Workers over HTTPS), once a minute and isolate. The call that follows asks for itself,
 * and may be told otherwise: the runtime does not say where it connects to. A question that nobody answers refuses nothing.
 */
export const blockPrivateHostname: HostnameCheck = async (url) => {
  const host = hostOf(url).toLowerCase();
  if (ipaddr.isValid(host)) return null;
  const known = resultsByHostname.get(host);
  if (known && known.until > Date.now()) return known.refusal;
  const refusal = await resolveAndCheck(host);
  resultsByHostname.delete(host);
  if (resultsByHostname.size >= maxCachedHostnames) resultsByHostname.delete(resultsByHostname.keys().next().value!);
  resultsByHostname.set(host, { refusal, until: Date.now() + cacheTtlMs });
  return refusal;
};

/** On a developer's machine: what it may reach is its owner's choice, and it may have no DNS. */
export const skipHostnameCheck: HostnameCheck = () => Promise.resolve(null);

async function resolveAndCheck(host: string): Promise<string | null> {
  const answers = await Promise.all([withTimeout(dns.resolve4(host)), withTimeout(dns.resolve6(host))]);
  for (const address of answers.flat()) {
    // Where a name is another one's, the answers begin with that name.
    const kind = ipaddr.isValid(address) ? privateAddressKind(address) : null;
    if (kind !== null) return `"${host}" leads to ${address}, which is a ${kind} address`;
  }
  return null;
}

async function withTimeout(addresses: Promise<string[]>): Promise<string[]> {
  const { promise: tooLate, resolve } = Promise.withResolvers<string[]>();
  const timer = setTimeout(() => resolve([]), timeoutMs);
  try {
    return await Promise.race([addresses, tooLate]);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}
