import type { Context } from '../../context.ts';
import { enforcePlanLimit, requireWithinLimit } from '../../accounts/organizations/plan-limits.ts';
import { cutPage, decodeCursor, type Page, type PageResult } from '../../http/pagination.ts';
import { invalidAt, notFound } from '../../library/errors.ts';
import { blockedRequestReason, urlPolicy } from '../../providers/http/url-policy.ts';
import { createSigningSecret } from '../signing-secrets.ts';
import { forgetListeners, wakeEndpoint } from '../wake-endpoints.ts';
import * as store from './store.ts';

/** An endpoint with its secret, which is shown this once. */
export interface EndpointWithSecret {
  row: store.EndpointRow;
  secret: string;
}

export interface EndpointSettings {
  url: string;
  description: string;
  /** Null: all types. */
  events: string[] | null;
}

export type EndpointChange = { [Name in keyof EndpointSettings]?: EndpointSettings[Name] | undefined };

/** An endpoint of the organization. Throws 404. */
export async function existingEndpoint({ database, organization }: Context, id: number): Promise<store.EndpointRow> {
  return requireShown(await store.findAnyEndpoint(database, organization.id, id));
}

export async function listEndpoints({ database, organization }: Context, query: Page): Promise<PageResult<store.EndpointRow>> {
  const { rows, total } = await store.listEndpoints(database, organization.id, { ...query, before: decodeCursor(query.cursor)?.id });
  return { ...cutPage(rows, query.limit, ({ id }) => ({ value: null, id })), total };
}

/** Creates an endpoint, which is told of what happens from now on. Throws 409 beyond the plan, 422 for an address that may not be called. */
export async function createEndpoint(context: Context, settings: EndpointSettings): Promise<EndpointWithSecret> {
  const { database, organization, clock } = context;
  await requireCallableUrl(context, settings.url);
  const { secret, sealed } = await createSigningSecret(context.settings, organization.id);
  const insert = store.insertEndpoint(database, organization.id, { ...settings, secret: sealed }, clock());
  const [rows] = await enforcePlanLimit(organization, () =>
    database.batchOnce(
      [insert, requireWithinLimit(database, organization, 'max_webhook_endpoints')],
      async ({ rowId }) => [await database.all(store.selectEndpoint(database, organization.id, rowId)), []],
      1,
    ),
  );
  forgetListeners(organization.id);
  return { row: rows[0]!, secret };
}

/** Changes an endpoint; absent fields stay. Throws 404, and 422 for an address that may not be called. */
export async function updateEndpoint(context: Context, id: number, change: EndpointChange): Promise<store.EndpointRow> {
  const { database, organization, clock } = context;
  if (change.url !== undefined) await requireCallableUrl(context, change.url);
  const row = requireShown(await store.updateEndpoint(database, organization.id, id, change, clock()));
  forgetListeners(organization.id);
  return row;
}

/** Gives an endpoint a new secret. For `overlapSeconds` messages are signed with both. Throws 404. */
export async function rotateSecret(context: Context, id: number, overlapSeconds: number): Promise<EndpointWithSecret> {
  const { database, organization, clock } = context;
  const { secret, sealed } = await createSigningSecret(context.settings, organization.id);
  const now = clock();
  const overlapUntil = now + overlapSeconds * 1000;
  return { row: requireShown(await store.replaceSecret(database, organization.id, id, { secret: sealed, overlapUntil, now })), secret };
}

/** Sends nothing more to an endpoint; its events wait. Throws 404. */
export async function pauseEndpoint(context: Context, id: number): Promise<store.EndpointRow> {
  const { database, organization, clock } = context;
  const row = requireShown(await store.pauseEndpoint(database, organization.id, id, clock()));
  forgetListeners(organization.id);
  return row;
}

/** Sends what waits for a paused or disabled endpoint. Throws 404. */
export async function resumeEndpoint(context: Context, id: number): Promise<store.EndpointRow> {
  const { database, organization, clock } = context;
  const row = requireShown(await store.resumeEndpoint(database, organization.id, id, clock()));
  forgetListeners(organization.id);
  wakeEndpoint(context, id);
  return row;
}

/** Deletes an endpoint with its deliveries. Throws 404. */
export async function deleteEndpoint(context: Context, id: number): Promise<void> {
  const { database, organization, clock } = context;
  if (!(await store.markDeleted(database, organization.id, id, clock()))) throw notFound('Webhook endpoint');
  forgetListeners(organization.id);
  wakeEndpoint(context, id);
}

function requireShown(row: store.EndpointRow | null): store.EndpointRow {
  if (!row || row.status === 'deleted') throw notFound('Webhook endpoint');
  return row;
}

async function requireCallableUrl({ settings }: Context, text: string): Promise<void> {
  const url = URL.parse(text);
  const reason = url ? await blockedRequestReason(url, urlPolicy(settings)) : 'it is not a URL';
  if (reason !== null) throw invalidAt(['body', 'url'], `May not be called: ${reason}`, 'url_refused');
}
