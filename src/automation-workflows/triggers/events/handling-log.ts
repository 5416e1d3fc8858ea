import { addListed, parseHandling, shortenMessage, storeHandling, type EventHandling } from '../../../events/event-handling.ts';
import type { EventToHandle } from '../../../events/handling.ts';
import type { Refusal } from '../../runs/admission/candidate.ts';
import type { TriggerDecision } from '../match-trigger.ts';

/** Why a batch of events starts no runs of triggers that listen to it, together with what earlier tries have recorded. */
export class HandlingLog {
  readonly #handlings: Map<number, EventHandling>;

  constructor(events: Pick<EventToHandle, 'id' | 'handling'>[]) {
    this.#handlings = new Map(events.map(({ id, handling }) => [id, parseHandling(handling)]));
  }

  addDecision(eventId: number, triggerId: number, decision: Exclude<TriggerDecision, { kind: 'starts' }>): void {
    const handling = this.#handlings.get(eventId)!;
    if (decision.kind === 'filtered') addListed(handling.filtered, triggerId);
    else addListed(handling.failed, { trigger_id: triggerId, message: shortenMessage(decision.message) });
  }

  addRefusal({ candidate, rule, message }: Refusal): void {
    const { triggerId, workflow } = candidate;
    const refusal = { trigger_id: triggerId, workflow_id: workflow.id, rule, message: shortenMessage(message) };
    addListed(this.#handlings.get(candidate.sourceId!)!.refused, refusal);
  }

  /** The stored forms, by event id, of the events of which there is anything to tell. */
  stored(): Map<number, string> {
    const stored = new Map<number, string>();
    for (const [id, handling] of this.#handlings) {
      const text = storeHandling(handling);
      if (text !== null) stored.set(id, text);
    }
    return stored;
  }
}
