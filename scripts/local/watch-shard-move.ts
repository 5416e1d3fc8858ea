import { setTimeout as sleep } from 'node:timers/promises';
import type { MovePhase } from '../../src/database/schema/accounts.ts';
import { LocalError } from './settings.ts';

/** How far a move between shards is: columns of `organization` and `organization_move`, which are null when there was no move. */
export interface ShardMoveState {
  shard: number;
  deleting_at: number | null;
  phase: MovePhase | null;
  from_shard: number | null;
  to_shard: number | null;
  copied: number | null;
  changes_left: number | null;
  note: string | null;
}

/** What the command asked for: the number of the shard, or that the move be called off. */
export type ShardMoveTarget = number | 'stop';

/** Prints how far a move is until its end. Throws `LocalError` when it does not end as asked. */
export async function watchShardMove(
  read: () => Promise<ShardMoveState>,
  target: ShardMoveTarget,
  note: (line: string) => void,
  everyMs = 3_000,
): Promise<string> {
  let shown = '';
  for (;;) {
    const state = await read();
    const end = endOf(state, target);
    if (end !== null) return end;
    for (const line of linesOf(state)) {
      if (shown.includes(line)) continue;
      note(line);
      shown += `${line}\n`;
    }
    await sleep(everyMs);
  }
}

function linesOf({ phase, from_shard: from, to_shard: to, copied, changes_left: left, note }: ShardMoveState): string[] {
  const notes = note === null ? [] : [`${note}.`];
  switch (phase) {
    case 'asked':
      return [
        ...notes,
        'Waiting for the service, which takes the move up within two minutes. Ended, this program ends nothing: run it again to see how far the move is.',
      ];
    case 'copying':
      return copied === 0 ? notes : [`${copied} rows copied${left ? `, ${left} have changed since` : ''}`, ...notes];
    case 'fenced':
      return ['The last changes are copied. For some seconds, writes of the organization are answered 503 with Retry-After.'];
    case 'left':
      return [
        `The organization works on shard ${to}. In 15 minutes its rows are deleted from shard ${from}; nothing has to be waited for.`,
      ];
    case 'clearing':
      return [`Its rows are being deleted from shard ${from}.`];
    case 'cancelling':
      return [...notes, `The organization stays on shard ${from}. What was copied is deleted from shard ${to}.`];
    default:
      return notes;
  }
}

/** Null while the move goes on. */
function endOf(state: ShardMoveState, target: ShardMoveTarget): string | null {
  const { phase, shard, from_shard: from, to_shard: to, note } = state;
  const isOn = phase !== null && !['moved', 'cancelled', 'refused'].includes(phase);
  if (target === 'stop') {
    if (phase === 'left' || phase === 'clearing' || phase === 'moved')
      throw new LocalError(`The organization is on shard ${shard} already, and does not move back.`);
    if (phase === 'asked') throw new LocalError('The service has just taken the move up. Run this again in some seconds.');
    return isOn ? null : `The organization is on shard ${shard}, and is not moving.`;
  }
  if (isOn && to !== target)
    throw new LocalError(`The organization is moving to shard ${to}. Let that move end, or call it off with --stop.`);
  if (isOn) return null;
  if (phase === 'moved' && to === target && shard === target)
    return `The organization is on shard ${shard}, and nothing of it is left on shard ${from}.`;
  if (state.deleting_at !== null) throw new LocalError('The organization is being deleted, and does not move.');
  if (shard === target) return `The organization is on shard ${shard}.`;
  if (shard > target) throw new LocalError(`The organization is on shard ${shard}. It moves only to a shard of a higher number.`);
  throw new LocalError(`The organization is still on shard ${shard}. ${note ?? 'The move was called off'}.`);
}
