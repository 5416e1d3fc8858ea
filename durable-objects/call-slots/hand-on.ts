import { campaignObject } from '../../src/campaigns/campaign-object.ts';
import { ownerOf } from '../../src/voice-agents/dialing/contract.ts';
import { settleSilent } from '../../src/voice-agents/dialing/settle-silent.ts';
import { settingsOf } from '../../src/settings.ts';
import { callObject } from '../../src/voice-agents/runs/call-object.ts';
import type { StoredAttempt } from './attempt-rows.ts';
import { againAt, isGivenUp, withoutTalk } from './give-up.ts';
import type { SlotsBook } from './slots-book.ts';
import type { Surroundings } from './surroundings.ts';
import { lineEndOf, reportOf, silentCallOf } from './views.ts';

const reportsAtOnce = 500;
const settledAtOnce = 100;
const watchMs = 2 * 60_000;

/** Hands on what follows from attempts: to their owners, to the objects of talks, and to the rows of calls that nobody talked on. */
export class HandOn {
  readonly #book: SlotsBook;
  readonly #around: Surroundings;
  /** Has it called again soon. */
  readonly #again: () => void;
  readonly #busyWith = new Set<string>();

  constructor(book: SlotsBook, around: Surroundings, again: () => void) {
    this.#book = book;
    this.#around = around;
    this.#again = again;
  }

  /** Campaigns hear of their attempts; each of them one message at a time. */
  async tellOwners(): Promise<void> {
    const owners = this.#book.untoldOwners();
    await Promise.all(owners.map((owner) => this.#alone(owner, () => this.#tell(owner))));
  }

  async #tell(name: string): Promise<void> {
    const untold = this.#book.rows.all('owner = ? AND level > told ORDER BY seq LIMIT ?', name, reportsAtOnce);
    if (!untold.length) return;
    const owner = ownerOf(name);
    if (owner.kind === 'campaign') {
      const reports = untold.map(reportOf);
      await campaignObject(this.#around.env(), this.#around.organizationId(), owner.id, (object) => object.reports(reports));
    }
    this.#book.transaction(() => {
      for (const { key, seq, level } of untold) {
        const current = this.#book.rows.find(key);
        // It may have been asked for anew while it was told.
        if (current?.seq === seq && current.told < level) this.#book.save(current, { ...current, told: level });
      }
    });
    // More of it, or what has happened meanwhile.
    this.#again();
  }

  /** What follows from calls that are over: their rows, or the objects of their talks. */
  async settle(): Promise<void> {
    await this.#alone('settle', async () => {
      // In the words of the index, which is not used otherwise.
      const due = "settling IN ('silent', 'talk') AND settling = ? AND check_at IS NULL ORDER BY seq LIMIT ?";
      const silent = this.#book.rows.all(due, 'silent', settledAtOnce);
      const talks = this.#book.rows.all(due, 'talk', settledAtOnce);
      if (!silent.length && !talks.length) return;
      await Promise.all([this.#settleSilent(silent), ...talks.map((attempt) => this.#endTalk(attempt))]);
      this.#again();
    });
  }

  async #settleSilent(attempts: StoredAttempt[]): Promise<void> {
    if (!attempts.length) return;
    const done = new Set(await settleSilent(await this.#around.context(), attempts.map(silentCallOf)));
    this.#book.settled([...done]);
    // One that cannot be settled holds up no other.
    for (const attempt of attempts.filter(({ key }) => !done.has(key))) {
      if (!this.#isGivenUp(attempt)) {
        this.#book.putOff([attempt.key], againAt(attempt, this.#around.now()));
        continue;
      }
      // Its row is complete. A journey that waits for it looks for itself.
      this.#around.log().error('what follows from a call was given up', undefined, { key: attempt.key, run_id: attempt.runId });
      this.#book.settled([attempt.key]);
    }
  }

  #isGivenUp(attempt: StoredAttempt): boolean {
    return isGivenUp(attempt, this.#around.now(), settingsOf(this.#around.env()).GIVE_UP_AFTER_HOURS);
  }

  async #endTalk(attempt: StoredAttempt): Promise<void> {
    const organizationId = this.#around.organizationId();
    try {
      await callObject(this.#around.env(), organizationId, attempt.runId!, (object) =>
        object.lineEnded(organizationId, attempt.runId!, lineEndOf(attempt)),
      );
    } catch (error) {
      this.#around.log().error('the object of a call did not hear that its line has ended', error, { run_id: attempt.runId });
      if (!this.#isGivenUp(attempt)) return this.#book.putOff([attempt.key], againAt(attempt, this.#around.now()));
      return this.#book.change(attempt.key, (current) => (current.settling === 'talk' ? withoutTalk(current, error) : current));
    }
    this.#book.change(attempt.key, (current) =>
      current.settling === 'talk' ? { ...current, settling: 'watch' as const, checkAt: this.#around.now() + watchMs } : current,
    );
  }

  /** Does `work` unless the same is under way; a failure is logged and made good by `tend`. */
  async #alone(name: string, work: () => Promise<void>): Promise<void> {
    if (this.#busyWith.has(name)) return;
    this.#busyWith.add(name);
    try {
      await work();
    } catch (error) {
      this.#around.log().error('call slots could not hand something on', error, { to: name });
    } finally {
      this.#busyWith.delete(name);
    }
  }
}
