import { randomBytes } from 'node:crypto';
import { readCredentials, writeCredentials, type Credentials, type Person } from './credentials.ts';
import { LocalError, serviceOrigin, simulatorsOrigin, type LocalSettings } from './settings.ts';

type Fetch = typeof fetch;

/** Whether the service at `baseUrl` takes the key. */
export async function isKeyAccepted(baseUrl: string, apiKey: string, send: Fetch = fetch): Promise<boolean> {
  const response = await send(`${baseUrl}/organizations/current`, { headers: { 'x-api-key': apiKey } });
  await response.body?.cancel();
  if (response.ok) return true;
  if (response.status === 401) return false;
  throw new LocalError(`The service answered ${response.status} when the stored API key was tried.`);
}

export interface DemoOptions {
  /** Whether the organization gets a carrier account, so that it can call at once. Only for simulated carriers: nobody is called. */
  hasSimulatedCarrier: boolean;
}

/** The key of the state folder if the service still takes it, else one of a new demo organization; both are kept for `npm run credentials`. */
export async function ensureCredentials(settings: LocalSettings, options: DemoOptions): Promise<Credentials> {
  const baseUrl = `${serviceOrigin(settings)}/api/v1`;
  const stored = readCredentials(settings.stateDirectory);
  const isStillGood = stored !== undefined && (await isKeyAccepted(baseUrl, stored.api_key));
  const credentials = {
    base_url: baseUrl,
    ...(isStillGood ? { api_key: stored.api_key, person: stored.person } : await signUpDemoPerson(baseUrl, options)),
    simulators_url: simulatorsOrigin(settings),
  };
  writeCredentials(settings.stateDirectory, credentials);
  return credentials;
}

/** A link that logs the demo person into the console, once. Undefined: the folder is of a time that kept no person. */
export async function makeSignInLink({ base_url: baseUrl, person }: Credentials, send: Fetch = fetch): Promise<string | undefined> {
  if (!person) return undefined;
  const post = async (path: string, init: RequestInit) => (await send(baseUrl + path, { method: 'POST', ...init })).json();
  const login = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(person) };
  const session = (await post('/auth/login', login)) as { token?: string };
  const link = (await post('/auth/sign-in-links', { headers: { authorization: `Bearer ${session.token}` } })) as { url?: string };
  return link.url;
}

/** Signs up a person with an organization of their own and answers an API key that may do everything in it. */
export const createDemoOrganization = async (baseUrl: string, options: DemoOptions, send: Fetch = fetch): Promise<string> =>
  (await signUpDemoPerson(baseUrl, options, send)).api_key;

/** As `createDemoOrganization`, with how the person logs in. */
async function signUpDemoPerson(
  baseUrl: string,
  { hasSimulatedCarrier }: DemoOptions,
  send: Fetch = fetch,
): Promise<{ api_key: string; person: Person }> {
  const post = async (path: string, body: object, token?: string) => {
    const response = await send(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
    if (response.ok) return (await response.json()) as Record<string, unknown>;
    const hint = response.status === 403 ? ' Set SIGNUP="open" in .dev.vars.' : '';
    throw new LocalError(
      `The demo organization could not be made: POST ${path} answered ${response.status} ${await response.text()}.${hint}`,
    );
  };
  const person = { email: `demo-${randomBytes(4).toString('hex')}@example.com`, password: randomBytes(24).toString('base64url') };
  const session = await post('/auth/signup', {
    ...person,
    name: 'Demo User',
    organization_name: 'Demo Organization',
  });
  if (hasSimulatedCarrier) await post('/organizations/telephony-configs', simulatedCarrier(), String(session.token));
  const key = await post('/user/api-keys', { name: 'Demo key', scopes: ['admin'] }, String(session.token));
  return { api_key: String(key.api_key), person };
}

/** Credentials that no carrier has given, and the number from which Twilio lets test accounts call. */
const simulatedCarrier = () => ({
  name: 'Simulated carrier',
  provider: 'twilio',
  twilio: { account_sid: `AC${randomBytes(16).toString('hex')}`, auth_token: randomBytes(16).toString('hex') },
  from_numbers: ['+15005550006'],
  calls_per_second: 50,
});
