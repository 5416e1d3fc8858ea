import { promises as dns } from 'node:dns';
import ipaddr from 'ipaddr.js';
import { hostOf, kindOfPrivate } from './guard.ts';

/** Why the name in a URL may not be called, going by the addresses that it leads to; null: it may, or nobody could tell. */
export type NameRefusal = (url: URL) => Promise<string | null>;

const keptMs = 60_000;
const mostKept = 1000;
const timeoutMs = 1500;

const kept = new Map<string, { refusal: string | null; until: number }>();

/**
 * Asks the DNS for a host's addresses (node:dns, on Workers over HTTPS), once a minute and isolate. The call that follows asks for itself,
 * and may be told otherwise: the runtime does not say where it connects to. A question that nobody answers refuses nothing.
 */
export const refuseNamesOfPrivate: NameRefusal = async (url) => {
  const host = hostOf(url).toLowerCase();
  if (ipaddr.isValid(host)) return null;
  const known = kept.get(host);
  if (known && known.until > Date.now()) return known.refusal;
  const refusal = await lookUp(host);
  kept.delete(host);
  if (kept.size >= mostKept) kept.delete(kept.keys().next().value!);
  kept.set(host, { refusal, until: Date.now() + keptMs });
  return refusal;
};

/** On a developer's machine: what it may reach is its owner's choice, and it may have no DNS. */
export const askNoNames: NameRefusal = () => Promise.resolve(null);

async function lookUp(host: string): Promise<string | null> {
  const answers = await Promise.all([inTime(dns.resolve4(host)), inTime(dns.resolve6(host))]);
  for (const address of answers.flat()) {
    // Where a name is another one's, the answers begin with that name.
    const kind = ipaddr.isValid(address) ? kindOfPrivate(address) : null;
    if (kind !== null) return `"${host}" leads to ${address}, which is a ${kind} address`;
  }
  return null;
}

async function inTime(addresses: Promise<string[]>): Promise<string[]> {
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
