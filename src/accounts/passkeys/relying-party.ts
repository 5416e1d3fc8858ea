import { conflict } from '../../library/errors.ts';
import type { Settings } from '../../settings.ts';

/** The site that passkeys belong to, as WebAuthn names it: its domain, and the addresses of its pages. */
export interface RelyingParty {
  id: string;
  name: string;
  origins: string[];
}

/**
 * Passkeys belong to the domain of CONSOLE_URL, else of PUBLIC_URL, else to the one that was asked. Throws 409 where that is no domain: browsers make
 * no passkeys for an IP address.
 */
export function relyingParty(settings: Settings, requestUrl: string): RelyingParty {
  const named = [settings.CONSOLE_URL, settings.PUBLIC_URL].filter((url) => url !== '').map((url) => new URL(url));
  const pages = named.filter(hasDomain);
  const page = pages[0] ?? new URL(requestUrl);
  const id = page.hostname;
  if (!hasDomain(page))
    throw conflict(
      `Passkeys need a domain name, and "${id}" is an address; open the service under its name (locally as localhost), or set PUBLIC_URL`,
    );
  const isOfDomain = ({ hostname }: URL): boolean => hostname === id || hostname.endsWith(`.${id}`);
  return { id, name: 'Voice Agent Automation Service', origins: [page, ...pages].filter(isOfDomain).map(({ origin }) => origin) };
}

const hasDomain = ({ hostname }: URL): boolean => !/^[\d.]+$|:/.test(hostname);
