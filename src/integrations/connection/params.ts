import { invalidAt } from '../../library/errors.ts';
import { booksRegions, isBooksRegion, isTrackerSubdomain } from '../../providers/broker/connection-params.ts';
import type { App } from '../../library/connectable-apps.ts';

/** Whether a connection has parameters: a grant for one site or data centre does not work for another. */
export const hasParams = (provider: App): boolean => provider === 'tracker' || provider === 'books';

/** The parameters of a connection, from a request. Throws 422 naming the field. */
export function parseParams(provider: App, given: Record<string, unknown> | null | undefined): Record<string, string> {
  if (provider === 'tracker') return { subdomain: parseSubdomain(given?.['subdomain']) };
  if (provider === 'books') return { region: parseRegion(given?.['region'] ?? 'com') };
  return {};
}

const paramLocation = (name: string) => ['body', 'connection_params', name];

function parseSubdomain(given: unknown): string {
  const what = 'the part of the address of the tracker before ".atlassian.net", such as "acme"';
  if (given === undefined || given === null || given === '')
    throw invalidAt(paramLocation('subdomain'), `Is missing; a tracker needs ${what}`, 'missing');
  const subdomain = typeof given === 'string' ? given.trim().toLowerCase() : '';
  if (!isTrackerSubdomain(subdomain)) throw invalidAt(paramLocation('subdomain'), `Is no subdomain; give ${what}`);
  return subdomain;
}

function parseRegion(given: unknown): string {
  const region = typeof given === 'string' ? given.trim().toLowerCase() : '';
  if (!isBooksRegion(region))
    throw invalidAt(paramLocation('region'), `Is no data centre of books; give one of ${booksRegions.join(', ')}`);
  return region;
}
