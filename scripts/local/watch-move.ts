import { setTimeout as sleep } from 'node:timers/promises';
import type { IndexName } from './organization-command.ts';
import { LocalError } from './settings.ts';

/** How far a move is: columns of `vector_placement`. */
export interface MoveState {
  kept_in: IndexName | null;
  phase: 'copying' | 'clearing' | null;
  move_to: IndexName | null;
  total: number;
  moved: number;
  missing: number;
  /** JSON of uuids, 100 at most. */
  missing_documents: string;
  error: string | null;
  due_at: number | null;
}

export interface MoveProgress {
  copied: (passages: number, of: number) => void;
  /** Prints a line about the move; each line is given once. */
  note: (line: string) => void;
  stop: () => void;
}

/** Prints the progress of a move until its end, and what to do next. Throws `LocalError` when the vectors stay where they were. */
export async function watchMove(
  read: () => Promise<MoveState>,
  target: IndexName,
  progress: MoveProgress,
  everyMs = 3_000,
): Promise<string> {
  const shownLines = new Set<string>();
  try {
    for (;;) {
      const state = await read();
      if (state.due_at === null) return endOf(state, target);
      if (state.phase === 'copying' && state.moved > 0) progress.copied(state.moved, Math.max(state.total, state.moved + state.missing));
      for (const line of linesOf(state, target)) {
        if (!shownLines.has(line)) progress.note(line);
        shownLines.add(line);
      }
      await sleep(everyMs);
    }
  } finally {
    progress.stop();
  }
}

function linesOf({ kept_in: keptIn, phase, move_to: moveTo, total, moved, missing, error }: MoveState, target: IndexName): string[] {
  if (phase !== null && moveTo !== null && moveTo !== target) {
    const why = error === null ? 'another command asked for it' : error;
    return [`The move is called off: ${why}. What was copied is cleared away.`];
  }
  const trouble = error === null ? [] : [`The service could not go on, and tries again: ${error}`];
  if (phase === null)
    return [
      ...trouble,
      'Waiting for the service, which takes the move up within two minutes. Ended, this program ends nothing: run it again to see how far the move is.',
    ];
  if (phase === 'clearing') return [...trouble, clearingLine(keptIn, target)];
  return moved + missing < total
    ? trouble
    : [...trouble, 'All passages are copied; search turns to them once the index shows all of them.'];
}

const clearingLine = (keptIn: IndexName | null, target: IndexName) =>
  keptIn === target
    ? `Search looks into the ${target} index now. The old one is cleared in a minute; nothing has to be waited for.`
    : 'What an earlier move left in the other index is cleared first.';

function endOf({ kept_in: keptIn, missing, missing_documents: documents, error }: MoveState, target: IndexName): string {
  if (keptIn !== target) throw new LocalError(`The vectors are still in the ${keptIn} index. ${error ?? 'The move was called off.'}`);
  const done = `The vectors are in the ${target} index.`;
  if (missing === 0) return `${done} New documents go there, too: there is nothing else to do.`;
  const uuids = JSON.parse(documents) as string[];
  return `${done} ${missing} passages had none to move, and search by meaning does not find them. Process their documents again: POST /knowledge-base/documents/{document_uuid}/reprocess for ${uuids.join(', ')}${uuids.length === 100 ? ' and perhaps others' : ''}.`;
}
