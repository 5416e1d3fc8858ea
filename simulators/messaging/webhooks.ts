import { z } from 'zod';
import type { Callback } from '../telephony/outbox.ts';

/** An address for webhooks, as a customer registers it at the vendor. */
export const RegistrationSchema = z.strictObject({
  url: z.url(),
  /** The account; without it the address is for every account without an address of its own. */
  account: z.string().default(''),
  /** The secret that signs webhooks, at vendors that sign. */
  app_secret: z.string().min(1).optional(),
  /** The token that the vendor verifies before it accepts the address. */
  verify_token: z.string().min(1).optional(),
});

export type Registration = z.output<typeof RegistrationSchema>;

/** The registered addresses for webhooks. */
export class Webhooks {
  readonly #registered = new Map<string, Registration>();

  register(registration: Registration): void {
    this.#registered.set(registration.account, registration);
  }

  of(account: string): Registration | undefined {
    return this.#registered.get(account) ?? this.#registered.get('');
  }

  /** A JSON webhook about a message; none without a registered address. */
  callback(
    about: { account: string; id: string; event: string },
    body: object,
    headersOf: (text: string, registration: Registration) => Record<string, string> = () => ({}),
  ): Callback[] {
    const registration = this.of(about.account);
    if (registration === undefined) return [];
    const text = JSON.stringify(body);
    const headers = () => ({ 'content-type': 'application/json', ...headersOf(text, registration) });
    return [{ event: about.event, account: about.account, sid: about.id, method: 'POST', url: registration.url, body: text, headers }];
  }
}
