import type { Context } from '../context.ts';
import type { ModelProvider } from '../providers/language-model/contract.ts';
import type { PurposeOrder } from './purposes.ts';

/** A language model of an organization as a conversation keeps it from its start to its end. */
export interface PinnedModel {
  id: number;
  name: string;
  provider: ModelProvider;
  /** Null: the address of the provider in the settings. */
  base_url: string | null;
  model: string;
  /** Sealed. */
  api_key: string;
  purposes: PurposeOrder;
  first_token_seconds: number;
  /** US dollars; null: by the price list. */
  prompt_usd_per_million: number | null;
  completion_usd_per_million: number | null;
}

/**
 * The SQL of all models of an organization as one JSON list, for the query that a conversation begins with. `organization` is an SQL
 * expression. The plan bounds the list.
 */
export const pinnedModelsSql = (organization: string): string =>
  `(SELECT json_group_array(json_object('id', m.id, 'name', m.name, 'provider', m.provider, 'base_url', m.base_url, 'model', m.model,
     'api_key', m.api_key, 'purposes', json(m.purposes), 'first_token_seconds', m.first_token_seconds,
     'prompt_usd_per_million', m.prompt_usd_per_million, 'completion_usd_per_million', m.completion_usd_per_million))
   FROM language_model m WHERE m.organization_id = ${organization})`;

/** The models in the JSON text of `pinnedModelsSql`. */
export const parsePinnedModels = (text: string): PinnedModel[] => JSON.parse(text) as PinnedModel[];

/** Reads the models of the organization. One D1 call. */
export async function loadPinnedModels({ database, organization }: Context): Promise<PinnedModel[]> {
  const statement = database.prepare<{ models: string }>(`SELECT ${pinnedModelsSql('?1')} AS models`, organization.id);
  return parsePinnedModels((await database.first(statement))!.models);
}
