import { JsonLinesFile } from '../json-lines-file.ts';
import type { CallRecord } from './call-record.ts';

export interface CallFilter {
  account?: string | undefined;
  to?: string | undefined;
  from?: string | undefined;
  attempt?: string | undefined;
}

/** Every call of a carrier. A file, if given, keeps the dialled calls across a crash of this process. */
export class CallStore {
  /** One line for each change: the call after the change. */
  readonly #file: JsonLinesFile<CallRecord>;
  readonly #calls = new Map<string, CallRecord>();
  readonly #live = new Map<string, Set<string>>();
  readonly #peaks = new Map<string, number>();

  constructor(file: string | undefined, now: number) {
    this.#file = new JsonLinesFile(file);
    for (const call of this.#file.read()) this.#calls.set(call.sid, call);
    this.#file.replace([...this.#calls.values()]);
    for (const call of this.#calls.values()) if (call.ended_at === null) this.#breakOff(call, now);
  }

  /** Ends the calls that were live when the process died. */
  #breakOff(call: CallRecord, now: number): void {
    call.status = call.answered_at === null ? 'failed' : 'completed';
    call.sip_code ??= call.answered_at === null ? 503 : null;
    call.ended_by = 'carrier';
    call.ended_at = now;
    this.save(call);
  }

  /** Saves a call after a change. The caller keeps the record and may change it further. */
  save(call: CallRecord): void {
    this.#calls.set(call.sid, call);
    this.#count(call);
    this.#file.append(call);
  }

  #count({ account, sid, ended_at: endedAt }: CallRecord): void {
    const live = this.#live.get(account) ?? new Set();
    this.#live.set(account, live);
    if (endedAt === null) live.add(sid);
    else live.delete(sid);
    this.#peaks.set(account, Math.max(this.#peaks.get(account) ?? 0, live.size));
  }

  find(sid: string): CallRecord | undefined {
    return this.#calls.get(sid);
  }

  /** Oldest first. */
  list({ account, to, from, attempt }: CallFilter = {}): CallRecord[] {
    return [...this.#calls.values()].filter(
      (call) =>
        (account === undefined || call.account === account) &&
        (to === undefined || call.to === to) &&
        (from === undefined || call.from === from) &&
        (attempt === undefined || call.attempt_key === attempt),
    );
  }

  /** The most calls of an account that were live at once, since this process began. */
  peak(account?: string): number {
    return account === undefined ? Math.max(0, ...this.#peaks.values()) : (this.#peaks.get(account) ?? 0);
  }
}
