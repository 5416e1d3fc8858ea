import type { Terminal } from '../local/terminal.ts';
import type { Order, Run } from './orders.ts';
import type { Service } from './service.ts';

/** One step of the tour. A step that fails throws a `LocalError` with the reason. */
export interface TourStep {
  title: string;
  /** The operation that does it, such as `POST /events`; its page in the docs is shown. */
  operation: string;
  run(tour: Tour): Promise<void>;
}

export interface Tour {
  service: Service;
  baseUrl: string;
  apiKey: string;
  simulatorsUrl: string;
  organization: { id: number; name: string; default_country: string; timezone: string };
  terminal: Terminal;
  /** A line under the heading of the step. */
  say(line: string): void;
  docsLink(operation: string): string;
  startedAt: number;
  /** Tells this run's event and delivery ids from those of every other. */
  stamp: string;
  notes: StepResultStore;
}

/** What steps leave for later ones. */
export interface StepResults {
  journey: { id: number; nodeNames: Map<string, string> };
  webhook: { url: string; secret: string };
  /** In the order in which they were sent. */
  orders: Order[];
  /** The run of each order, once it has ended as it should. */
  runs: Map<Order, Run>;
  campaign: { id: number; agentId: number };
  handbook: { uuid: string };
}

export class StepResultStore {
  readonly #notes: Partial<StepResults> = {};

  write<Name extends keyof StepResults>(name: Name, value: StepResults[Name]): void {
    this.#notes[name] = value;
  }

  read<Name extends keyof StepResults>(name: Name): StepResults[Name] {
    const value = this.#notes[name];
    if (value === undefined) throw new Error(`No step before this one wrote "${name}"; mind the order in steps.ts`);
    return value as StepResults[Name];
  }
}
