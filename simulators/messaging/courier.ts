import { setTimeout as sleep } from 'node:timers/promises';
import { Outbox, type Callback } from '../telephony/outbox.ts';
import { within, type Span } from '../telephony/settings.ts';
import { fateOf, type Fate } from './fate.ts';
import { MessageBook, type DeliveryStatus, type MessageRecord, type TakenMessage } from './message-book.ts';
import { readMessagingSettings, type GivenMessagingSettings } from './settings.ts';

/** The vendor's code and words of a failure that is told after the message was taken. */
export interface Fault {
  code: string;
  words: string;
}

export interface VendorWords {
  /** Fates that end in a failed delivery; the others were refused when the message came, or are none. */
  faults: Partial<Record<Fate, Fault>>;
  /** What the customer is told of a change; nothing where they want to know nothing. */
  callbacksOf(message: MessageRecord, status: DeliveryStatus, fault: Fault | undefined): Callback[];
}

export interface CourierSurroundings {
  /** From one status of a message to the next. */
  deliveryMs: Span;
  signal: AbortSignal;
  outbox: Outbox;
}

/** What a vendor that only messages has around it. */
export function surroundings(given: GivenMessagingSettings, signal: AbortSignal): CourierSurroundings {
  const settings = readMessagingSettings(process.env, given);
  return { deliveryMs: settings.delivery_ms, signal, outbox: new Outbox(settings, signal) };
}

/** Takes messages of a vendor to people: each is sent and delivered, or fails, by its number. */
export class Courier {
  readonly book = new MessageBook();
  readonly outbox: Outbox;
  readonly #deliveryMs: Span;
  readonly #signal: AbortSignal;
  readonly #words: VendorWords;

  constructor({ deliveryMs, signal, outbox }: CourierSurroundings, words: VendorWords) {
    this.#deliveryMs = deliveryMs;
    this.#signal = signal;
    this.outbox = outbox;
    this.#words = words;
  }

  take(message: TakenMessage): MessageRecord {
    const record = this.book.add(message);
    void this.#carry(record);
    return record;
  }

  /** The person opens it. */
  read(message: MessageRecord): void {
    this.#change(message, 'read');
  }

  async #carry(message: MessageRecord): Promise<void> {
    const pause = () => sleep(within(this.#deliveryMs, message.to), undefined, { signal: this.#signal, ref: false });
    this.#change(message, 'accepted');
    try {
      await pause();
      const fault = this.#words.faults[fateOf(message.to)];
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
    for (const callback of this.#words.callbacksOf(message, status, fault)) void this.outbox.tell(callback);
  }
}
