import { promises as dns } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { hostOf, privateAddressKind } from './ssrf-guard.ts';

/** Why the host name of a URL may not be called, judged by its addresses; null: it may, or the addresses are unknown. */
export type HostnameCheck = (url: URL) => Promise<string | null>;

const cacheTtlMs = 60_000;
const maxCachedHostnames = 1000;
const timeoutMs = 1500;

const resultsByHostname = new Map<string, { refusal: string | null; until: number }>();

/**
 * Looks up a host's addresses in the DNS (node:dns, on Workers over HTTPS), once a minute in each isolate. The following request resolves
 * the name again and may get other addresses, which the runtime does not show. A failed lookup refuses nothing.
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

/** Allows all names on a developer's machine, which may have no DNS. */
export const skipHostnameCheck: HostnameCheck = () => Promise.resolve(null);

async function resolveAndCheck(host: string): Promise<string | null> {
  const answers = await Promise.all([withTimeout(dns.resolve4(host)), withTimeout(dns.resolve6(host))]);
  for (const address of answers.flat()) {
    // For an alias the answers begin with the canonical name.
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
