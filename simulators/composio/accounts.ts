import { randomBytes } from 'node:crypto';
import { JsonLinesFile } from '../json-lines-file.ts';
import { toolkits, type Toolkit } from './toolkits.ts';

type AccountStatus = 'INITIALIZING' | 'INITIATED' | 'ACTIVE' | 'FAILED' | 'EXPIRED' | 'INACTIVE' | 'REVOKED';

export interface Account {
  id: string;
  project: string;
  user_id: string;
  auth_config_id: string;
  status: AccountStatus;
  status_reason: string | null;
  link_token: string;
  callback_url: string | null;
  connection_data: Record<string, string>;
  scopes: string[];
  /** Epoch ms. */
  created: number;
  updated: number;
  expires: number;
  is_deleted: boolean;
}

export type AccountChange = Partial<Pick<Account, 'status' | 'status_reason' | 'scopes' | 'is_deleted'>>;

const linkLifeMs = 10 * 60_000;

/** Every connected account, kept across restarts so that what a customer has connected stays connected. */
export class AccountStore {
  readonly #file: JsonLinesFile<Account>;
  readonly #accounts: Map<string, Account>;
  #aheadMs = 0;

  constructor(path: string | undefined) {
    this.#file = new JsonLinesFile(path);
    this.#accounts = new Map(this.#file.read().map((account) => [account.id, account]));
    this.#file.replace([...this.#accounts.values()]);
  }

  now(): number {
    return Date.now() + this.#aheadMs;
  }

  advance(seconds: number): void {
    this.#aheadMs += seconds * 1000;
  }

  create(given: Pick<Account, 'project' | 'user_id' | 'auth_config_id' | 'callback_url' | 'connection_data'>): Account {
    const now = this.now();
    const account: Account = {
      ...given,
      id: `ca_${randomBytes(9).toString('base64url')}`,
      status: 'INITIALIZING',
      status_reason: null,
      link_token: `lk_${randomBytes(9).toString('base64url')}`,
      scopes: [],
      created: now,
      updated: now,
      expires: now + linkLifeMs,
      is_deleted: false,
    };
    this.#accounts.set(account.id, account);
    this.#file.append(account);
    return account;
  }

  change(account: Account, change: AccountChange): void {
    Object.assign(account, change, { updated: this.now() });
    this.#file.append(account);
  }

  find(id: string): Account | undefined {
    const account = this.#accounts.get(id);
    return account === undefined || account.is_deleted ? undefined : this.#aged(account);
  }

  ofLink(token: string): Account | undefined {
    return this.list().find(({ link_token }) => link_token === token);
  }

  /** Newest first. */
  list(): Account[] {
    return [...this.#accounts.values()]
      .filter(({ is_deleted }) => !is_deleted)
      .map((account) => this.#aged(account))
      .toReversed();
  }

  #aged(account: Account): Account {
    const isOpen = account.status === 'INITIALIZING' || account.status === 'INITIATED';
    if (isOpen && this.now() > account.expires)
      this.change(account, { status: 'EXPIRED', status_reason: 'Connection initiation did not complete within 10 minutes' });
    return account;
  }
}

export const toolkitOf = (account: Account): Toolkit => toolkits[account.auth_config_id]!;

/** As the broker shows it. Tokens in `state` are masked. */
export function accountResource(account: Account): object {
  const toolkit = toolkitOf(account);
  return {
    id: account.id,
    user_id: account.user_id,
    status: account.status,
    status_reason: account.status_reason,
    is_disabled: account.status === 'INACTIVE',
    toolkit: { slug: toolkit.slug },
    auth_config: { id: account.auth_config_id, auth_scheme: 'OAUTH2', is_composio_managed: true, is_disabled: false },
    state: {
      authScheme: 'OAUTH2',
      val: { status: account.status, scope: account.scopes.join(','), access_token: 'REDACTED', refresh_token: 'REDACTED' },
    },
    created_at: new Date(account.created).toISOString(),
    updated_at: new Date(account.updated).toISOString(),
    requested_scopes: toolkit.scopes,
  };
}
