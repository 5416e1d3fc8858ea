import type { Context } from '../context.ts';
import { requireWithinLimit, enforcePlanLimit } from '../accounts/organizations/plan-limits.ts';
import { nextTimestamp, retryOnConflict, compareAndSet } from '../database/compare-and-set.ts';
import { cutPage, decodeCursor, type PageResult, type Page } from '../http/pagination.ts';
import { conflict, notFound } from '../library/errors.ts';
import { publish } from '../outbox/published-events.ts';
import { invalidateCarriers } from './load-carrier.ts';
import type { CarrierKey } from '../providers/telephony/registry.ts';
import { prepareConfig } from './prepare-config.ts';
import type { NewTelephonyConfig, TelephonyConfigPatch } from './schemas.ts';
import * as store from './store.ts';

/** Finds a configuration. Throws 404. */
export async function existingConfig({ database, organization }: Context, id: number): Promise<store.TelephonyConfigRow> {
  const row = await store.findConfig(database, organization.id, id);
  if (!row) throw notFound('Telephony configuration');
  return row;
}

export async function listConfigs(
  { database, organization }: Context,
  { search, cursor, limit, offset }: Page & { search?: string | undefined },
): Promise<PageResult<store.TelephonyConfigRow>> {
  const before = decodeCursor(cursor)?.id;
  const { rows, total } = await store.listConfigs(database, organization.id, { search, before, limit: limit + 1, offset });
  return { ...cutPage(rows, limit, ({ id }) => ({ value: null, id })), total };
}

/**
 * Creates a configuration. `callbackOrigin` is the origin under which the caller reached the API. Throws 409 when another configuration has
 * one of its numbers.
 */
export async function createConfig(context: Context, body: NewTelephonyConfig, callbackOrigin: string): Promise<store.TelephonyConfigRow> {
  const { database, organization, clock } = context;
  const values = await prepareConfig(context, body, null, callbackOrigin, clock());
  const id = await retryOnConflict(async () => {
    const insert = store.insertConfig(database, organization.id, values);
    const room = requireWithinLimit(database, organization, 'max_telephony_configs');
    const moved = body.is_default ? store.moveDefaultFlag(database, organization.id, null) : [];
    const rows = await enforcePlanLimit(organization, () =>
      compareAndSet(database, insert, [room, ...moved], ({ rowId }) => store.selectConfigId(database, organization.id, rowId)),
    );
    if (rows) return rows[0]!['id'] as number;
    await requireFreeNumbers(context, values.fromNumbers, null);
    return null;
  });
  return finishChange(context, id);
}

/** Changes a configuration; absent fields stay. Throws 409 when another configuration has one of its numbers. */
export async function changeConfig(
  context: Context,
  id: number,
  patch: TelephonyConfigPatch,
  callbackOrigin: string,
): Promise<store.TelephonyConfigRow> {
  const { database, organization, clock } = context;
  const done = await retryOnConflict(async () => {
    const row = await existingConfig(context, id);
    requirePossibleChange(row, patch);
    const wanted = {
      ...patch,
      name: patch.name ?? row.name,
      provider: row.provider as CarrierKey,
      from_numbers: patch.from_numbers ?? row.fromNumbers,
    };
    const values = await prepareConfig(context, wanted, row, callbackOrigin, nextTimestamp(row.updatedAt, clock()));
    const update = store.updateConfig(database, organization.id, id, values, row.updatedAt);
    const moved = patch.is_default ? store.moveDefaultFlag(database, organization.id, id) : [];
    const rows = await compareAndSet(database, update, moved, () => store.selectConfigId(database, organization.id, id));
    if (rows) return id;
    await requireFreeNumbers(context, values.fromNumbers, id);
    return null;
  });
  return finishChange(context, done);
}

/** Deletes a configuration. Throws 404, and 409 while it has live calls. */
export async function deleteConfig(context: Context, id: number): Promise<void> {
  const { database, organization } = context;
  await existingConfig(context, id);
  await publish(context, 'telephony_config.deleting', { configId: id });
  if (!(await store.deleteConfig(database, organization.id, id))) throw notFound('Telephony configuration');
  await propagateChange(context);
}

function requirePossibleChange(row: store.TelephonyConfigRow, { provider, is_default }: TelephonyConfigPatch): void {
  // Live calls could not be looked up or ended at another carrier.
  if (provider !== undefined && provider !== row.provider)
    throw conflict(
      `The provider of this configuration is ${row.provider}; make another configuration for ${provider}, with is_default true`,
    );
  if (is_default === false && row.isDefault)
    throw conflict('This is the default configuration; set is_default true on another one, and this one is it no more');
}

async function requireFreeNumbers({ database, organization }: Context, numbers: string[], id: number | null): Promise<void> {
  const taken = await store.findTakenNumber(database, organization.id, numbers, id);
  if (taken) throw conflict(`${taken.number} is a number of configuration ${taken.id} ("${taken.name}"); take it out there first`);
}

async function finishChange(context: Context, id: number | undefined): Promise<store.TelephonyConfigRow> {
  if (id === undefined) throw conflict('The telephony configurations keep being changed by other requests; try again');
  await propagateChange(context);
  return existingConfig(context, id);
}

async function propagateChange(context: Context): Promise<void> {
  invalidateCarriers(context.organization.id);
  await publish(context, 'dialing_policy.changed', {});
}
