import { z } from 'zod';
import type { Callback } from '../telephony/outbox.ts';

/** Where a customer wants to be told, as they would set it at the vendor. */
export const RegistrationSchema = z.strictObject({
  url: z.url(),
  /** Whose messages; without it those of every account that has none of its own. */
  account: z.string().default(''),
  /** Signs what is sent, where the vendor signs. */
  app_secret: z.string().min(1).optional(),
  /** Asked for before the address is taken, where the vendor asks. */
  verify_token: z.string().min(1).optional(),
});

export type Registration = z.output<typeof RegistrationSchema>;

/** The addresses that webhooks go to. */
export class Webhooks {
  readonly #registered = new Map<string, Registration>();

  register(registration: Registration): void {
    this.#registered.set(registration.account, registration);
  }

  of(account: string): Registration | undefined {
    return this.#registered.get(account) ?? this.#registered.get('');
  }

  /** A JSON webhook about a message; none where nobody has registered. */
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
