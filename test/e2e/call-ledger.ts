import type { CallRecord } from '../../simulators/telephony/call-record.ts';
import type { KillableService } from './killable-service.ts';

/** What the simulated carrier dialled, oldest first. It outlives every kill of the service. */
export interface CallLedger {
  calls: CallRecord[];
  peak_concurrent: number;
  attempts_dialled_twice: string[];
}

export async function readLedger(service: KillableService): Promise<CallLedger> {
  const { status, body } = await service.call({ method: 'GET', path: `${service.simulators}/twilio/__sim/ledger` });
  if (status !== 200) throw new Error(`the ledger of the carrier cannot be read: ${JSON.stringify(body)}`);
  return body;
}

/** Of the attempt key `campaign:7:12:1`: `campaign:7`. All journeys together are one owner. */
export const laneOf = ({ attempt_key: key }: Pick<CallRecord, 'attempt_key'>): string => {
  const [kind = '', id] = (key ?? '').split(':');
  return kind === 'campaign' ? `${kind}:${id}` : kind;
};

type Lasting = Pick<CallRecord, 'created_at' | 'ended_at'>;

/** The most calls that were live at once; one that ends when another begins is not live with it. */
export function maxAtOnce(calls: readonly Lasting[]): number {
  const steps = calls.flatMap(({ created_at: from, ended_at: to }) => [
    { at: from, by: 1 },
    { at: to ?? Infinity, by: -1 },
  ]);
  let [live, most] = [0, 0];
  for (const { by } of steps.toSorted((one, other) => one.at - other.at || one.by - other.by)) {
    live += by;
    most = Math.max(most, live);
  }
  return most;
}

/** Phone numbers of people who were in two live calls. */
export const inTwoCalls = (calls: readonly (Lasting & Pick<CallRecord, 'to'>)[]): string[] =>
  [...Map.groupBy(calls, ({ to }) => to)].filter(([, own]) => maxAtOnce(own) > 1).map(([phone]) => phone);

/** Calls by owner among the first half of all dialled calls. */
export function callsAtHalf(calls: readonly Pick<CallRecord, 'attempt_key' | 'created_at'>[]): Map<string, number> {
  const dialled = calls.toSorted((one, other) => one.created_at - other.created_at);
  const counts = new Map([...new Set(dialled.map(laneOf))].map((lane) => [lane, 0]));
  for (const call of dialled.slice(0, dialled.length / 2)) counts.set(laneOf(call), counts.get(laneOf(call))! + 1);
  return counts;
}
