import type { App } from '../../src/library/connectable-apps.ts';
import { simulatorsUrl } from './carrier.ts';
import type { Answer, Client } from './organization.ts';

/** Decides on the broker's consent page as a person would. `scopes`: the granted permissions. */
export async function decideConsent(redirectUrl: string, decision: 'approve' | 'deny' = 'approve', scopes?: string): Promise<void> {
  const query = new URLSearchParams({ decision, ...(scopes !== undefined && { scopes }) });
  await (await fetch(`${redirectUrl}?${query}`)).text();
}

const standardParams: Partial<Record<App, Record<string, string>>> = { tracker: { subdomain: 'acme' } };

export const startConnecting = (client: Client, provider: App, connection_params = standardParams[provider]): Promise<Answer> =>
  client.post('/integration/connect', { provider, ...(connection_params && { connection_params }) });

export const finalizeConnecting = (client: Client, connected_account_id: string, provider: App): Promise<Answer> =>
  client.post('/integration/connect/finalize', { connected_account_id, provider });

/** Connects an integration and gives the consent; returns the answer of finalize. */
export async function connectIntegration(
  client: Client,
  provider: App,
  { scopes, params }: { scopes?: string; params?: Record<string, string> } = {},
): Promise<any> {
  const { body } = await startConnecting(client, provider, params);
  await decideConsent(body.redirect_url, 'approve', scopes);
  const { status, body: integration } = await finalizeConnecting(client, body.request_id, provider);
  if (status !== 200) throw new Error(`${provider} is not connected: ${status} ${JSON.stringify(integration)}`);
  return integration;
}

const postJson = (path: string, body: unknown, headers: Record<string, string> = {}, method = 'POST') =>
  fetch(simulatorsUrl + path, { method, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });

/** Makes the next `times` matching requests to a vendor fail as described. */
export async function planFault(fault: { provider: string; [part: string]: unknown }): Promise<void> {
  const answer = await postJson('/__sim/faults', fault);
  if (answer.status !== 201) throw new Error(`no fault: ${answer.status} ${await answer.text()}`);
}

/** Sets the state of an account at the broker, as when a grant has ended at the vendor. */
export async function setAccountStatus(accountId: string, status: 'EXPIRED' | 'REVOKED' | 'INACTIVE' | 'FAILED' | 'ACTIVE'): Promise<void> {
  await (await postJson(`/composio/__sim/accounts/${accountId}`, { status })).text();
}

/** How the broker knows an account; null: not at all. */
export async function readBrokerAccount(accountId: string): Promise<{ status: string; user_id: string } | null> {
  const answer = await fetch(`${simulatorsUrl}/composio/api/v3.1/connected_accounts/${accountId}`, {
    headers: { 'x-api-key': 'test-key-of-the-broker' },
  });
  const body: any = await answer.json();
  return answer.status === 200 ? body : null;
}

/** What an organization's own world at Google holds, changed there by somebody else. */
export async function changeAtGoogle(organizationId: number, method: 'POST' | 'PATCH' | 'PUT', path: string, body: unknown): Promise<void> {
  const answer = await postJson(`/googlesheets${path}`, body, { authorization: `Bearer org_${organizationId}` }, method);
  if (answer.status !== 200) throw new Error(`not changed: ${answer.status} ${await answer.text()}`);
  await answer.text();
}

export const leadsUrl = 'https://docs.google.com/spreadsheets/d/simulated-leads/edit';
export const messyUrl = 'https://docs.google.com/spreadsheets/d/simulated-messy/edit#gid=0';
export const deletedUrl = 'https://docs.google.com/spreadsheets/d/deleted/edit';
