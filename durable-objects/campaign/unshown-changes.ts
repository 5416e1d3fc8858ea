import type { Actor } from '../../src/database/audit/actor.ts';
import type { Campaign, ShownColumns, UnshownChange } from './campaign-store.ts';

const toShownColumns = ({ name, configs, state, stateReason, completedAt }: Campaign): ShownColumns => ({
  name,
  configs,
  state,
  stateReason,
  completedAt,
});

/** The state as one text, by which two states are compared. */
export const toStateText = ({ state, stateReason }: Pick<Campaign, 'state' | 'stateReason'>): string => `${state} ${stateReason}`;

/**
 * The changes that the campaign's row has to show after a person has changed the campaign from `before` to `after`, in their order. `revision`
 * is that of the person's change, `projectedState` the state that the row shows for certain. What the service itself changed before comes
 * first, in nobody's name.
 */
export function addPersonChange(
  before: Campaign,
  after: Campaign,
  { actor, revision, projectedState }: { actor: Actor; revision: number; projectedState: string | null },
): UnshownChange[] {
  const earlier = before.unshownChanges;
  const last = earlier.at(-1);
  const isShownBefore = toStateText(before) === (last ? toStateText(last.shown) : projectedState);
  const own: UnshownChange[] = isShownBefore ? [] : [{ actor: null, revision: revision - 1, shown: toShownColumns(before) }];
  return [...earlier, ...own, { actor, revision, shown: toShownColumns(after) }];
}
