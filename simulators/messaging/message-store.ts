export type DeliveryStatus = 'accepted' | 'sent' | 'delivered' | 'read' | 'failed';

/** One message as the provider took it, for `/__sim/messages`. Times are epoch ms. */
export interface MessageRecord {
  id: string;
  /** WATI's tenant, Meta's phone number id, Gupshup's app, Twilio's account. */
  account: string;
  /** E.164. */
  to: string;
  kind: 'template' | 'text';
  template: string | null;
  language: string | null;
  /** In the order of the placeholders. */
  params: string[];
  text: string | null;
  /** The sender's own reference. */
  reference: string | null;
  status: DeliveryStatus;
  /** The vendor's code. */
  error: string | null;
  created_at: number;
}

export type AcceptedMessage = Pick<MessageRecord, 'id' | 'account' | 'to' | 'kind'> & Partial<MessageRecord>;

const maxStoredMessages = 20_000;

/** All messages that a simulated provider has taken. */
export class MessageStore {
  readonly #messages = new Map<string, MessageRecord>();

  add(taken: AcceptedMessage): MessageRecord {
    const nothing = { template: null, language: null, params: [], text: null, reference: null, error: null };
    const record: MessageRecord = { ...nothing, status: 'accepted', created_at: Date.now(), ...taken };
    this.#messages.set(record.id, record);
    if (this.#messages.size > maxStoredMessages) this.#messages.delete(this.#messages.keys().next().value!);
    return record;
  }

  find(id: string): MessageRecord | undefined {
    return this.#messages.get(id);
  }

  /** Oldest first. */
  list({ account, to, reference }: Record<string, string | undefined>): MessageRecord[] {
    return [...this.#messages.values()].filter(
      (message) => matches(message.account, account) && matches(message.to, to) && matches(message.reference, reference),
    );
  }
}

const matches = (value: string | null, wanted: string | undefined) => wanted === undefined || value === wanted;
