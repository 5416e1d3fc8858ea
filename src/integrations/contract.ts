import type { integration } from '../database/schema/integrations.ts';
import { badRequest } from '../library/errors.ts';
import { apps, type App } from '../library/connectable-apps.ts';

export type Integration = typeof integration.$inferSelect;

/** The providers that journeys and call summaries write to. */
export const actionTargets = ['chatapp', 'tracker', 'calendar'] as const satisfies readonly App[];
/** The providers with which contacts are synchronized. */
export const dataSources = ['books', 'sheet'] as const satisfies readonly App[];

export type DataSource = (typeof dataSources)[number];

export const isDataSource = (provider: App): provider is DataSource => (dataSources as readonly App[]).includes(provider);

/** The provider of this name. Throws 400 for an unknown one. */
export function parseProvider(name: string): App {
  const known = apps.find((app) => app === name);
  if (known === undefined) throw badRequest(`Unknown provider "${name}"; the providers are ${apps.join(', ')}`);
  return known;
}

/** A sync reads `inbound` and `bidirectional` fields; a push sends `outbound` and `bidirectional` ones. */
export const directions = ['inbound', 'outbound', 'bidirectional'] as const;
export type Direction = (typeof directions)[number];

/** By contact field: a standard one, or `custom_fields.{key}`. */
export type BooksMapping = Record<string, { external_field: string; direction: Direction }>;
/**
 * By contact field, the name of a column as `nameHeaders` returns it. A column mapped to both first_name and last_name has full names,
 * which are split.
 */
export type SheetMapping = Record<string, string>;

/** The stored `provider_data` of each provider; a setting is absent until it is chosen. */
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
  /** The name of the tab. */
  sheet_name?: string;
  contact_list_name?: string;
}

/** The id of an organization at the broker. */
export const brokerOwnerId = (organizationId: number): string => `org_${organizationId}`;
