import { index, integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { json, moment } from './columns.ts';

/** A language model that an organization has under a key of its own. */
export const languageModel = sqliteTable(
  'language_model',
  {
    id: integer('id').primaryKey(),
    organizationId: integer('organization_id').notNull(),
    name: text('name').notNull(),
    provider: text('provider').$type<'openai' | 'anthropic'>().notNull(),
    /** Null: the address of the provider in the settings. */
    baseUrl: text('base_url'),
    /** The provider's name. */
    model: text('model').notNull(),
    /** Sealed. */
    apiKey: text('api_key').notNull(),
    /** The place in the order of each purpose that it has, lowest first. */
    purposes: json<Partial<Record<'talk' | 'extraction' | 'judge' | 'journey', number>>>('purposes').notNull(),
    firstTokenSeconds: real('first_token_seconds').notNull(),
    /** US dollars; null: by the price list. */
    promptUsdPerMillion: real('prompt_usd_per_million'),
    completionUsdPerMillion: real('completion_usd_per_million'),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
  },
  (table) => [index('language_model_organization').on(table.organizationId)],
);
