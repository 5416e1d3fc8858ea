type JsonObject = Record<string, unknown>;

/** The keys of a trigger's record. Other keys of a request are keys of its config. */
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

/** The config keys that a request gives beside `config`. A record that is posted back as it was read has none. */
const pickConfigKeys = (given: JsonObject): JsonObject => Object.fromEntries(Object.entries(given).filter(([key]) => !recordKeys.has(key)));

/** The config of a new trigger. Keys in `config` override keys beside it. */
export const toRequestedConfig = (given: JsonObject): JsonObject => ({
  ...pickConfigKeys(given),
  ...(given['config'] as JsonObject | null | undefined),
});

/** The config after a change: `config` replaces `before`; keys beside `config` change single keys, and null removes a key. Null: no change. */
export function toChangedConfig(given: JsonObject, before: JsonObject): JsonObject | null {
  const beside = pickConfigKeys(given);
  const config = given['config'] as JsonObject | null | undefined;
  if (config) return { ...beside, ...config };
  if (Object.keys(beside).length === 0) return null;
  return Object.fromEntries(Object.entries({ ...before, ...beside }).filter(([, value]) => value !== null));
}
