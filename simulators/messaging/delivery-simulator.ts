import { setTimeout as sleep } from 'node:timers/promises';
import { Outbox, type Callback } from '../telephony/outbox.ts';
import { pickWithin, type Span } from '../telephony/settings.ts';
import { toDeliveryOutcome, type DeliveryOutcome } from './delivery-outcome.ts';
import { MessageStore, type DeliveryStatus, type MessageRecord, type AcceptedMessage } from './message-store.ts';
import { readMessagingSettings, type GivenMessagingSettings } from './settings.ts';

/** The vendor's code and words of a failure that is told after the message was taken. */
export interface Fault {
  code: string;
  words: string;
}

export interface VendorFormat {
  /** Fates that end in a failed delivery; the others were refused when the message came, or are none. */
  faults: Partial<Record<DeliveryOutcome, Fault>>;
  /** What the customer is told of a change; nothing where they want to know nothing. */
  callbacksOf(message: MessageRecord, status: DeliveryStatus, fault: Fault | undefined): Callback[];
}

export interface DeliveryDependencies {
  /** From one status of a message to the next. */
  deliveryMs: Span;
  signal: AbortSignal;
  outbox: Outbox;
}

/** What a vendor that only messages has around it. */
export function createDeliveryDependencies(given: GivenMessagingSettings, signal: AbortSignal): DeliveryDependencies {
  const settings = readMessagingSettings(process.env, given);
  return { deliveryMs: settings.delivery_ms, signal, outbox: new Outbox(settings, signal) };
}

/** Takes messages of a vendor to people: each is sent and delivered, or fails, by its number. */
export class DeliverySimulator {
  readonly store = new MessageStore();
  readonly outbox: Outbox;
  readonly #deliveryMs: Span;
  readonly #signal: AbortSignal;
  readonly #words: VendorFormat;

  constructor({ deliveryMs, signal, outbox }: DeliveryDependencies, words: VendorFormat) {
    this.#deliveryMs = deliveryMs;
    this.#signal = signal;
    this.outbox = outbox;
    this.#words = words;
  }

  take(message: AcceptedMessage): MessageRecord {
    const record = this.store.add(message);
    void this.#carry(record);
    return record;
  }

  /** The person opens it. */
  read(message: MessageRecord): void {
    this.#change(message, 'read');
  }

  async #carry(message: MessageRecord): Promise<void> {
    const pause = () => sleep(pickWithin(this.#deliveryMs, message.to), undefined, { signal: this.#signal, ref: false });
    this.#change(message, 'accepted');
    try {
      await pause();
      const fault = this.#words.faults[toDeliveryOutcome(message.to)];
      if (fault) return this.#change(message, 'failed', fault);
      this.#change(message, 'sent');
      await pause();
      this.#change(message, 'delivered');
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    }
  }

  #change(message: MessageRecord, status: DeliveryStatus, fault?: Fault): void {
    Object.assign(message, { status, error: fault?.code ?? null });
    for (const callback of this.#words.callbacksOf(message, status, fault)) void this.outbox.notify(callback);
  }
}
