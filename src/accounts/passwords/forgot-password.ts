import { catalog } from '../../database/shards.ts';
import { conflict, rateLimited } from '../../library/errors.ts';
import { randomToken, sha256Hex } from '../../library/security/hash.ts';
import type { Logger } from '../../library/platform/log.ts';
import { getMailSender } from '../../providers/mail/send-mail.ts';
import { getSettings } from '../../settings.ts';
import { toLinkUrl } from '../link-url.ts';
import { passwordResetMail } from '../mails.ts';
import { countMail, toNetworkSubject } from '../mail-limits.ts';
import * as members from '../members/store.ts';
import * as store from '../store.ts';
import { resetHours } from './reset-password.ts';

/** Mails in an hour that are asked for: for one address, and from one network. */
const maxMailsPerEmail = 5;
const maxMailsPerNetwork = 30;
/** Accounts of one address that get a link. */
const maxLinks = 5;

/**
 * Sends a link with which the person of an address chooses a new password, one for each account of the address. `later` gets the work, so that
 * neither the answer nor its time tells whether there is an account. The settings alone say where the link leads. Throws 409 where the service sends
 * no mail, and 429.
 */
export async function forgotPassword(
  bindings: Env,
  { email, address }: { email: string; address: string | undefined },
  { log, later }: { log: Logger; later: (work: Promise<void>) => void },
  now: number,
): Promise<void> {
  if (!getMailSender(bindings, getSettings(bindings)))
    throw conflict('This service sends no mail; ask an admin of your organization for a link that resets your password', 'no_mail_sender');
  await limitMails(bindings, email, address, now);
  later(sendLinks(bindings, email, now).catch((error: unknown) => log.error('a mail was not sent', error)));
}

async function limitMails(bindings: Env, email: string, address: string | undefined, now: number): Promise<void> {
  const most = { [`forgot-email:${email}`]: maxMailsPerEmail, [`forgot:${toNetworkSubject(address)}`]: maxMailsPerNetwork };
  const exceeded = await countMail(catalog(bindings), most, now);
  if (!exceeded) return;
  const seconds = Math.max(1, Math.ceil((exceeded.windowEndsAt - now) / 1000));
  throw rateLimited(`Too many mails in an hour; look into your mailbox, or try again in ${seconds} s`, seconds);
}

async function sendLinks(bindings: Env, email: string, now: number): Promise<void> {
  const settings = getSettings(bindings);
  const accounts = catalog(bindings);
  const users = (await store.findUsersByEmail(accounts, email)).slice(0, maxLinks);
  if (users.length === 0) return;
  const urls: string[] = [];
  for (const { id } of users) {
    const token = `var_${randomToken(32)}`;
    const times = { createdAt: now, expiresAt: now + resetHours * 3_600_000 };
    await members.upsertPasswordReset(accounts, { userId: id, tokenHash: sha256Hex(token), organizationId: 0, createdBy: id, ...times });
    urls.push(toLinkUrl(settings, settings.PUBLIC_URL.replace(/\/$/, ''), 'password-reset', token));
  }
  await getMailSender(bindings, settings)!.send(email, passwordResetMail({ urls, hours: resetHours }));
}
