import { readCredentials } from './credentials.ts';
import type { Target } from './request-with-retries.ts';
import { LocalError, readLocalSettings } from './settings.ts';

/**
 * The service and its key: those of the options, else of `BASE_URL` and `API_KEY`, else of the local service. Throws `LocalError` that says
 * what is missing or wrong.
 */
export function readTarget(
  options: { 'base-url'?: string | undefined; 'api-key'?: string | undefined },
  environment: Record<string, string | undefined>,
): Target {
  const local = readCredentials(readLocalSettings(environment).stateDirectory);
  const baseUrl = options['base-url'] ?? (environment.BASE_URL || local?.base_url);
  const apiKey = options['api-key'] ?? (environment.API_KEY || local?.api_key);
  if (!baseUrl || !apiKey) {
    throw new LocalError(
      `No ${baseUrl ? 'API key' : 'service'} to work with. Run "npm start" first, or give --base-url and --api-key (or BASE_URL and API_KEY).`,
    );
  }
  return { baseUrl: withVersion(baseUrl), apiKey };
}

function withVersion(baseUrl: string): string {
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl)) {
    throw new LocalError(`The base URL is "${baseUrl}"; give one that begins with http:// or https:// and ends in /api/v1.`);
  }
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path === '' ? '/api/v1' : path}`;
}
