import { z } from 'zod';
import type { App } from '../../library/connectable-apps.ts';
import type { BrokerConnection, ConnectionStatus } from './broker.ts';

/** The used fields of a connected account. `state`, `data` and `params` may have tokens and are not read. */
export const Account = z.object({
  id: z.string().min(1),
  user_id: z.string(),
  status: z.string(),
  status_reason: z.string().nullish(),
  is_disabled: z.boolean().nullish(),
  toolkit: z.object({ slug: z.string() }).nullish(),
  auth_config: z.object({ id: z.string() }).nullish(),
});
export type Account = z.output<typeof Account>;

export const AccountPage = z.object({ items: z.array(Account) });

export const Link = z.object({ redirect_url: z.url(), connected_account_id: z.string().min(1), expires_at: z.string().nullish() });

/** `base_url` may contain placeholders. */
export const Toolkit = z.object({
  base_url: z.string().min(1).nullish(),
  meta: z.object({ base_url: z.string().min(1).nullish() }).nullish(),
});

export const ProxyResponse = z.object({
  status: z.int().min(100).max(599),
  headers: z.record(z.string(), z.unknown()).nullish(),
  data: z.unknown(),
});

/** An unknown state counts as pending, in which no requests are sent. */
const statusesByName: Record<string, ConnectionStatus> = {
  INITIALIZING: 'pending',
  INITIATED: 'pending',
  ACTIVE: 'active',
  FAILED: 'failed',
  EXPIRED: 'expired',
  INACTIVE: 'disabled',
  REVOKED: 'revoked',
};

const appsByToolkit: Record<string, App> = {
  slack: 'chatapp',
  jira: 'tracker',
  googlecalendar: 'calendar',
  zoho_books: 'books',
  googlesheets: 'sheet',
};

/** A connected account as a connection. `appOfConfig`: the app of each configured auth config. */
export function toBrokerConnection(account: Account, appOfConfig: ReadonlyMap<string, App>): BrokerConnection {
  const status = statusesByName[account.status] ?? 'pending';
  return {
    id: account.id,
    owner: account.user_id,
    app: appOfConfig.get(account.auth_config?.id ?? '') ?? appsByToolkit[account.toolkit?.slug.toLowerCase() ?? ''],
    status: status === 'active' && account.is_disabled === true ? 'disabled' : status,
    ...(account.status_reason && { reason: account.status_reason }),
  };
}
