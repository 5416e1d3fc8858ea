import type { Context } from '../../context.ts';
import type { Settings } from '../../settings.ts';
import { cloudflareMailSender, type SendEmailBinding } from './cloudflare.ts';
import type { Mail, MailSender } from './mail-sender.ts';

/** How something reaches a person: by mail, or by whoever reads the answer. `detail` says so in a sentence. */
export interface MailDelivery {
  by: 'mail' | 'link';
  detail: string;
}

/**
 * The mail sender of the service; null: the binding MAIL or the variable MAIL_FROM is missing, or nothing says where the links of mails lead. The
 * origin of a request does not say so: whoever sends the request chooses it, and the mail goes to somebody else.
 */
export function getMailSender(bindings: Env, settings: Settings): MailSender | null {
  const binding = (bindings as unknown as { MAIL?: SendEmailBinding }).MAIL;
  return binding && settings.MAIL_FROM && hasLinkAddress(settings) ? cloudflareMailSender(binding, settings.MAIL_FROM) : null;
}

const hasLinkAddress = ({ PUBLIC_URL, CONSOLE_URL }: Settings): boolean => PUBLIC_URL !== '' || CONSOLE_URL !== '';

const missingSetting = (settings: Settings): string =>
  settings.MAIL_FROM && !hasLinkAddress(settings) ? 'variable PUBLIC_URL or CONSOLE_URL' : 'binding MAIL, variable MAIL_FROM';

/** Sends a mail where there is an address and a sender. A mail that is refused is no failure of the request: its link still works. */
export async function sendMail(
  { bindings, settings, log }: Pick<Context, 'bindings' | 'settings' | 'log'>,
  to: string | null,
  write: () => Mail,
): Promise<MailDelivery> {
  if (to === null) return { by: 'link', detail: 'Hand the link over: the invitation names no e-mail address' };
  const sender = getMailSender(bindings, settings);
  if (!sender) return { by: 'link', detail: `Hand the link over: this service sends no mail (${missingSetting(settings)})` };
  try {
    await sender.send(to, write());
    return { by: 'mail', detail: `Sent to ${to}` };
  } catch (error) {
    log.error('a mail was not sent', error);
    return { by: 'link', detail: 'Hand the link over: the mail was refused, and the log says why' };
  }
}
