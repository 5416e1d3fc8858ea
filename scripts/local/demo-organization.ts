import { randomBytes } from 'node:crypto';
import { readCredentials, writeCredentials, type Credentials } from './credentials.ts';
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
  const storedKey = readCredentials(settings.stateDirectory)?.api_key;
  const isStillGood = storedKey !== undefined && (await isKeyAccepted(baseUrl, storedKey));
  const credentials = {
    base_url: baseUrl,
    api_key: isStillGood ? storedKey : await createDemoOrganization(baseUrl, options),
    simulators_url: simulatorsOrigin(settings),
  };
  writeCredentials(settings.stateDirectory, credentials);
  return credentials;
}

/** Signs up a user with an organization of its own and answers an API key that may do everything in it. */
export async function createDemoOrganization(baseUrl: string, { hasSimulatedCarrier }: DemoOptions, send: Fetch = fetch): Promise<string> {
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
  const session = await post('/auth/signup', {
    email: `demo-${randomBytes(4).toString('hex')}@example.com`,
    password: randomBytes(24).toString('base64url'),
    name: 'Demo User',
    organization_name: 'Demo Organization',
  });
  if (hasSimulatedCarrier) await post('/organizations/telephony-configs', simulatedCarrier(), String(session.token));
  const key = await post('/user/api-keys', { name: 'Demo key', scopes: ['admin'] }, String(session.token));
  return String(key.api_key);
}

/** Credentials that no carrier has given, and the number from which Twilio lets test accounts call. */
const simulatedCarrier = () => ({
  name: 'Simulated carrier',
  provider: 'twilio',
  twilio: { account_sid: `AC${randomBytes(16).toString('hex')}`, auth_token: randomBytes(16).toString('hex') },
  from_numbers: ['+15005550006'],
  calls_per_second: 50,
});
