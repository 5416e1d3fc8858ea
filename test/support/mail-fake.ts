import type { SendEmailBinding } from '../../src/providers/mail/cloudflare.ts';

export interface SentMail {
  from: string;
  to: string;
  subject: string;
  text: string;
}

/** A `send_email` binding that takes exactly what Cloudflare's does: verified senders, single addresses, no line break in a header. */
export class MailFake implements SendEmailBinding {
  readonly sent: SentMail[] = [];
  readonly #verified: string;
  /** The error of the next message, once. */
  nextError: Error | null = null;

  constructor(verified: string) {
    this.#verified = verified;
  }

  async send(message: SentMail): Promise<{ messageId: string }> {
    if (this.nextError) {
      const error = this.nextError;
      this.nextError = null;
      throw error;
    }
    const unknown = Object.keys(message).filter((name) => !['from', 'to', 'subject', 'text'].includes(name));
    if (unknown.length > 0) throw new TypeError(`unknown fields: ${unknown.join(', ')}`);
    for (const [name, value] of Object.entries(message))
      if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be text`);
    for (const header of [message.from, message.to, message.subject])
      if (/[\r\n]/.test(header)) throw Object.assign(new Error('a header has a line break'), { code: 'E_VALIDATION_ERROR' });
    if (!/^[^@\s]+@[^@\s]+$/.test(message.to)) throw Object.assign(new Error('not an address'), { code: 'E_VALIDATION_ERROR' });
    if (message.from !== this.#verified) throw Object.assign(new Error('sender not verified'), { code: 'E_SENDER_NOT_VERIFIED' });
    this.sent.push(message);
    return { messageId: `<${this.sent.length}@fake>` };
  }
}
