import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Call, KillableService } from './killable-service.ts';

export interface Sent extends Answer {
  /** Whether an earlier try got no answer, so that the request may have been executed then. */
  isRepeated: boolean;
}

const betweenTriesMs = 150;
/** A request that died leaves its Idempotency-Key taken for a minute. */
const patienceMs = 90_000;

/** Repeats each request, under the same id, until it is answered: as a sender must when no answer comes. */
export class PatientSender {
  readonly #service: KillableService;
  /** How often no answer came. */
  unanswered = 0;
  /** How often the service answered with a 5xx. */
  refused = 0;

  constructor(service: KillableService) {
    this.#service = service;
  }

  async send(call: Call): Promise<Sent> {
    const until = Date.now() + patienceMs;
    for (let isRepeated = false; ; isRepeated = true) {
      const answer = await this.#service.call(call).catch(() => null);
      if (answer === null) this.unanswered += 1;
      else if (answer.status < 500 && !isStillRunning(answer)) return { ...answer, isRepeated };
      if (answer !== null && answer.status >= 500) this.refused += 1;
      if (Date.now() > until) throw new Error(`no answer to ${call.method} ${call.path}, only ${JSON.stringify(answer)}`);
      await sleep(betweenTriesMs);
    }
  }
}

const isStillRunning = ({ status, body }: Answer): boolean => status === 409 && String(body.detail).includes('still running');
