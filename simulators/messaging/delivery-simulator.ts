import { setTimeout as sleep } from 'node:timers/promises';
import { Outbox, type Callback } from '../telephony/outbox.ts';
import { pickWithin, type Span } from '../telephony/settings.ts';
import { toDeliveryOutcome, type DeliveryOutcome } from './delivery-outcome.ts';
import { MessageStore, type DeliveryStatus, type MessageRecord, type AcceptedMessage } from './message-store.ts';
import { readMessagingSettings, type GivenMessagingSettings } from './settings.ts';

/** The vendor's code and words of a failure that a callback reports after the message was accepted. */
export interface Fault {
  code: string;
  words: string;
}

export interface VendorFormat {
  /** The results that end in a failed delivery. Other failures are refused at the request. */
  faults: Partial<Record<DeliveryOutcome, Fault>>;
  /** The callbacks about a change; none if the customer asked for none. */
  callbacksOf(message: MessageRecord, status: DeliveryStatus, fault: Fault | undefined): Callback[];
}

export interface DeliveryDependencies {
  /** From one status of a message to the next. */
  deliveryMs: Span;
  signal: AbortSignal;
  outbox: Outbox;
}

/** The dependencies of a vendor that only sends messages. */
export function createDeliveryDependencies(given: GivenMessagingSettings, signal: AbortSignal): DeliveryDependencies {
  const settings = readMessagingSettings(process.env, given);
  return { deliveryMs: settings.delivery_ms, signal, outbox: new Outbox(settings, signal) };
}

/** Delivers a vendor's messages: each is sent and delivered, or fails, as its number decides. */
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

  /** Marks a message as read by the person. */
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
