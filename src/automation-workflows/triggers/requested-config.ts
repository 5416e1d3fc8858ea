type JsonObject = Record<string, unknown>;

/** What a trigger's record shows besides its config, and what a request says of it. */
const recordKeys = new Set([
  'id',
  'uuid',
  'organization_id',
  'automation_workflow_id',
  'type',
  'name',
  'config',
  'warnings',
  'state',
  'webhook_url',
  'next_fire_at',
  'last_fired_at',
  'fire_count',
  'last_error',
  'created_at',
  'updated_at',
]);

/** The keys of a request that stand beside `config` and belong into it; a record that was read and is posted back has none. */
const pickConfigKeys = (given: JsonObject): JsonObject => Object.fromEntries(Object.entries(given).filter(([key]) => !recordKeys.has(key)));

/** The config of a new trigger. What `config` says goes before the keys beside it. */
export const toRequestedConfig = (given: JsonObject): JsonObject => ({
  ...pickConfigKeys(given),
  ...(given['config'] as JsonObject | null | undefined),
});

/** The config that a change asks for: `config` replaces the one `before`, keys beside it change single keys, null removes one. Null: none. */
export function toChangedConfig(given: JsonObject, before: JsonObject): JsonObject | null {
  const beside = pickConfigKeys(given);
  const config = given['config'] as JsonObject | null | undefined;
  if (config) return { ...beside, ...config };
  if (Object.keys(beside).length === 0) return null;
  return Object.fromEntries(Object.entries({ ...before, ...beside }).filter(([, value]) => value !== null));
}
