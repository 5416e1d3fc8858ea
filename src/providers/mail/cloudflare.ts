import type { Mail, MailSender } from './mail-sender.ts';

/** What a `send_email` binding takes (Cloudflare Email Service, "Send emails from Workers"). */
export interface SendEmailBinding {
  send(message: { from: string; to: string; subject: string; text: string }): Promise<unknown>;
}

/** Sends by a `send_email` binding. `from` must be an address of a domain that Email Routing or Email Service has verified. */
export const cloudflareMailSender = (binding: SendEmailBinding, from: string): MailSender => ({
  async send(to: string, { subject, text }: Mail): Promise<void> {
    await binding.send({ from, to, subject, text });
  },
});
