import type { integration } from '../database/schema/integrations.ts';
import { badRequest } from '../library/errors.ts';
import { apps, type App } from '../library/connectable-apps.ts';

export type Integration = typeof integration.$inferSelect;

/** What a journey or the call summary acts upon. */
export const actionTargets = ['chatapp', 'tracker', 'calendar'] as const satisfies readonly App[];
/** What contacts are kept in step with. */
export const dataSources = ['books', 'sheet'] as const satisfies readonly App[];

export type DataSource = (typeof dataSources)[number];

export const isDataSource = (provider: App): provider is DataSource => (dataSources as readonly App[]).includes(provider);

/** Throws 400 for a provider that nothing is known of. */
export function parseProvider(name: string): App {
  const known = apps.find((app) => app === name);
  if (known === undefined) throw badRequest(`Unknown provider "${name}"; the providers are ${apps.join(', ')}`);
  return known;
}

/** `inbound` fields travel on a sync, `outbound` ones on a push, `bidirectional` ones on both. */
export const directions = ['inbound', 'outbound', 'bidirectional'] as const;
export type Direction = (typeof directions)[number];

/** By field of a contact: a standard one, or `custom_fields.{key}`. */
export type BooksMapping = Record<string, { external_field: string; direction: Direction }>;
/**
 * By field of a contact, the name of a column as `nameHeaders` gives it. A column that gives both first_name and last_name holds whole names,
 * to be split.
 */
export type SheetMapping = Record<string, string>;

/** What is stored of `provider_data` of each provider; absent until it is chosen. */
export interface ChatappData {
  channel?: string;
}
export interface TrackerData {
  project?: string;
  issue_type?: string;
}
export interface BooksData {
  organization_id?: string;
  organization_name?: string;
}
export interface SheetData {
  sheet_url?: string;
  /** Of the tab. */
  sheet_name?: string;
  contact_list_name?: string;
}

/** Whom the broker knows an organization as. */
export const brokerOwnerId = (organizationId: number): string => `org_${organizationId}`;
