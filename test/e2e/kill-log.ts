import { attemptsByState } from './kill-evidence.ts';
import type { KillableService } from './killable-service.ts';

/** From the kill until the service was healthy again, epoch ms. */
export interface Downtime {
  from: number;
  to: number;
}

/** Kills a busy service and starts it again at once. Records the work that each kill interrupted: calls by default. */
export class KillLog {
  readonly #service: KillableService;
  readonly #say: (text: string) => void;
  readonly #lookInto: (stateDirectory: string) => Map<string, number>;
  readonly downtimes: Downtime[] = [];
  /** The states that were found at the kills. */
  readonly met = new Set<string>();

  constructor(service: KillableService, say: (text: string) => void, lookInto = attemptsByState) {
    this.#service = service;
    this.#say = say;
    this.#lookInto = lookInto;
  }

  async killAndStart(): Promise<void> {
    const from = Date.now();
    await this.#service.kill();
    const met = this.#lookInto(this.#service.stateDirectory);
    for (const state of met.keys()) this.met.add(state);
    await this.#service.start();
    const to = Date.now();
    this.downtimes.push({ from, to });
    const found = [...met].map(([state, count]) => `${count} ${state}`).join(', ');
    this.#say(`kill ${this.downtimes.length} met ${found || 'nothing'}; up again after ${((to - from) / 1000).toFixed(1)} s`);
  }
}
