import type { Context } from '../../accounts/context.ts';
import { requireRoom, withinPlan } from '../../accounts/room.ts';
import { stampAfter, untilCurrent, writeIfCurrent } from '../../automation-workflows/optimistic-write.ts';
import { cut, decodeCursor, type Found, type Page } from '../../http/pagination.ts';
import { conflict, notFound } from '../../library/errors.ts';
import { callSlots } from '../dialing/slots.ts';
import { announceTerms } from './announce-terms.ts';
import { forgetCarriers } from './carrier-of.ts';
import { prepareConfig } from './prepare.ts';
import type { NewTelephonyConfig, TelephonyConfigPatch } from './schemas.ts';
import * as store from './store.ts';

/** Throws 404. */
export async function existingConfig({ database, organization }: Context, id: number): Promise<store.TelephonyConfigRow> {
  const row = await store.findConfig(database, organization.id, id);
  if (!row) throw notFound('Telephony configuration');
  return row;
}

export async function listConfigs(
  { database, organization }: Context,
  { search, cursor, limit, offset }: Page & { search?: string | undefined },
): Promise<Found<store.TelephonyConfigRow>> {
  const before = decodeCursor(cursor)?.id;
  const { rows, total } = await store.listConfigs(database, organization.id, { search, before, limit: limit + 1, offset });
  return { ...cut(rows, limit, ({ id }) => ({ value: null, id })), total };
}

/** `callbackOrigin`: under which origin the caller has reached the API. Throws 409 when one of its numbers is another configuration's. */
export async function createConfig(context: Context, body: NewTelephonyConfig, callbackOrigin: string): Promise<store.TelephonyConfigRow> {
  const { database, organization, clock } = context;
  const values = await prepareConfig(context, body, null, callbackOrigin, clock());
  const id = await untilCurrent(async () => {
    const insert = store.insertConfig(database, organization.id, values);
    const room = requireRoom(database, organization, 'max_telephony_configs');
    const moved = body.is_default ? store.moveDefault(database, organization.id, null) : [];
    const rows = await withinPlan(organization, () =>
      writeIfCurrent(database, insert, [room, ...moved], ({ rowId }) => store.idOf(database, organization.id, rowId)),
    );
    if (rows) return rows[0]!['id'] as number;
    await refuseTaken(context, values.fromNumbers, null);
    return null;
  });
  return changed(context, id);
}

/** Absent fields stay. Throws 409 when one of its numbers is another configuration's. */
export async function changeConfig(
  context: Context,
  id: number,
  patch: TelephonyConfigPatch,
  callbackOrigin: string,
): Promise<store.TelephonyConfigRow> {
  const { database, organization, clock } = context;
  const done = await untilCurrent(async () => {
    const row = await existingConfig(context, id);
    refuseImpossible(row, patch);
    const wanted = { ...patch, name: patch.name ?? row.name, provider: row.provider, from_numbers: patch.from_numbers ?? row.fromNumbers };
    const values = await prepareConfig(context, wanted, row, callbackOrigin, stampAfter(row.updatedAt, clock()));
    const update = store.updateConfig(database, organization.id, id, values, row.updatedAt);
    const moved = patch.is_default ? store.moveDefault(database, organization.id, id) : [];
    const rows = await writeIfCurrent(database, update, moved, () => store.idOf(database, organization.id, id));
    if (rows) return id;
    await refuseTaken(context, values.fromNumbers, id);
    return null;
  });
  return changed(context, done);
}

/** Throws 404, and 409 while it has calls: its carrier could not be asked how they end. */
export async function deleteConfig(context: Context, id: number): Promise<void> {
  const { database, organization, bindings } = context;
  await existingConfig(context, id);
  const live = await callSlots(bindings, organization.id, (slots) => slots.closeConfig(id));
  if (live > 0) throw conflict(`The configuration has ${live} live ${live === 1 ? 'call' : 'calls'}; delete it when they have ended`);
  if (!(await store.deleteConfig(database, organization.id, id))) throw notFound('Telephony configuration');
  await announce(context);
}

function refuseImpossible(row: store.TelephonyConfigRow, { provider, is_default }: TelephonyConfigPatch): void {
  // Calls that are under way could be neither asked about nor ended at another carrier.
  if (provider !== undefined && provider !== row.provider)
    throw conflict(
      `The provider of this configuration is ${row.provider}; make another configuration for ${provider}, with is_default true`,
    );
  if (is_default === false && row.isDefault)
    throw conflict('This is the default configuration; set is_default true on another one, and this one is it no more');
}

async function refuseTaken({ database, organization }: Context, numbers: string[], id: number | null): Promise<void> {
  const taken = await store.findTakenNumber(database, organization.id, numbers, id);
  if (taken) throw conflict(`${taken.number} is a number of configuration ${taken.id} ("${taken.name}"); take it out there first`);
}

async function changed(context: Context, id: number | undefined): Promise<store.TelephonyConfigRow> {
  if (id === undefined) throw conflict('The telephony configurations keep being changed by other requests; try again');
  await announce(context);
  return existingConfig(context, id);
}

async function announce(context: Context): Promise<void> {
  forgetCarriers(context.organization.id);
  await announceTerms(context);
}
