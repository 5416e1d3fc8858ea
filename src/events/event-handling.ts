import { isRecord } from '../library/json/json.ts';

/** Why an event started no runs, as its row has it in `handling`. Names of fields are stored, so they are never renamed. */
export interface EventHandling {
  /** Triggers whose filter did not match. */
  filtered: Listed<number>;
  /** Triggers that could not be evaluated. */
  failed: Listed<{ trigger_id: number; message: string }>;
  /** Runs that a rule of admission, or a limit of the plan, refused. */
  refused: Listed<{ trigger_id: number | null; workflow_id: number; rule: string; message: string }>;
  /** Waiting runs that took the event, and runs that it ended by `exit_on`, of events that were handled before `affected_run` had them. */
  woken: Listed<number>;
  exited: Listed<number>;
}

/** The first entries of a list, and how many it has in all. */
export interface Listed<Entry> {
  count: number;
  first: Entry[];
}

/** So many entries of a kind are stored by name. A type may have many triggers, and the row of an event must stay small. */
const maxListed = 50;
const maxMessageLength = 300;

const emptyHandling = (): EventHandling => ({
  filtered: { count: 0, first: [] },
  failed: { count: 0, first: [] },
  refused: { count: 0, first: [] },
  woken: { count: 0, first: [] },
  exited: { count: 0, first: [] },
});

/** Adds an entry, unless it is listed already. */
export function addListed<Entry>(listed: Listed<Entry>, entry: Entry): void {
  const text = JSON.stringify(entry);
  if (listed.first.some((known) => JSON.stringify(known) === text)) return;
  listed.count += 1;
  if (listed.first.length < maxListed) listed.first.push(entry);
}

export const shortenMessage = (message: string): string =>
  message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength - 1)}…`;

/** The handling in a row; an empty one where nothing is stored. */
export function parseHandling(text: string | null): EventHandling {
  const stored = text === null ? null : (JSON.parse(text) as unknown);
  return isRecord(stored) ? { ...emptyHandling(), ...stored } : emptyHandling();
}

/** The stored form; null when there is nothing to tell. */
export const storeHandling = (handling: EventHandling): string | null =>
  Object.values(handling).some(({ count }: Listed<unknown>) => count > 0) ? JSON.stringify(handling) : null;
