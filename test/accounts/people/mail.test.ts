import { afterEach, describe, expect, test, vi } from 'vitest';
import { linesLoggedBy, newEmail, serviceWith, signUp } from '../../http/service.ts';
import { MailFake } from '../../support/mail-fake.ts';
import { Client, newOrganization } from '../../support/organization.ts';

afterEach(() => vi.useRealTimers());

const from = 'calls@example.com';
function mailing() {
  const mail = new MailFake(from);
  const send = serviceWith({ MAIL: mail, MAIL_FROM: from });
  return { mail, anonymous: new Client(undefined, send), of: (key: string) => new Client(key, send) };
}
const linkIn = (text: string, kind: string): string => new RegExp(`#${kind}=(\\S+)`).exec(text)![1]!;

describe('an invitation with an address', () => {
  test('is mailed, and its link works', async () => {
    const { mail, of, anonymous } = mailing();
    const { key, id } = await newOrganization();
    const email = newEmail();
    const { body } = await of(key).post('/organizations/invitations', { role: 'operator', email });
    expect(body.delivery).toEqual({ by: 'mail', detail: `Sent to ${email}` });
    expect(mail.sent).toMatchObject([{ from, to: email }]);
    const token = linkIn(mail.sent[0]!.text, 'invitation');
    const joined = await anonymous.post('/auth/invitations/accept', { token, password: 'a quiet harbour at dusk' });
    expect(joined).toMatchObject({ status: 200, body: { organization: { id } } });
  });

  test('is answered with the link when the mail is refused, and says so', async () => {
    const { mail, of } = mailing();
    const { key } = await newOrganization();
    mail.nextError = new Error('quota');
    const lines = await linesLoggedBy(async () => {
      const { status, body } = await of(key).post('/organizations/invitations', { role: 'viewer', email: newEmail() });
      expect([status, body.delivery.by, body.token]).toEqual([200, 'link', expect.stringMatching(/^vai_/)]);
    });
    expect(lines.join('\n')).toContain('a mail was not sent');
    expect(lines.join('\n')).not.toContain('vai_');
  });

  test('names no sender by the name of an organization, which anybody chooses', async () => {
    const { mail, of } = mailing();
    const { key } = await newOrganization();
    const client = of(key);
    await client.patch('/organizations/current', { name: 'Bank\r\nBcc: all@example.com' });
    await client.post('/organizations/invitations', { role: 'viewer', email: newEmail() });
    expect(mail.sent).toHaveLength(1);
    expect(mail.sent[0]!.subject).not.toContain('Bank');
    expect(mail.sent[0]!.text).not.toContain('\nBcc:');
  });

  test('is handed over where the service sends no mail', async () => {
    const { client } = await newOrganization();
    const { body } = await client.post('/organizations/invitations', { role: 'viewer', email: newEmail() });
    expect(body.delivery).toEqual({ by: 'link', detail: expect.stringContaining('MAIL_FROM') });
  });
});

describe('a forgotten password', () => {
  test('is chosen anew by a link that comes by mail, once, and all sessions end', async () => {
    const { mail, anonymous } = mailing();
    const { email, body } = await signUp({ organization_name: 'Ours' });
    expect((await anonymous.post('/auth/password/forgot', { email })).body).toEqual({ status: 'requested' });
    await vi.waitFor(() => expect(mail.sent).toHaveLength(1));
    const token = linkIn(mail.sent[0]!.text, 'password-reset');
    const choose = { token, new_password: 'lanterns over a quiet harbour' };
    expect((await anonymous.post('/auth/password/reset', choose)).body).toEqual({ status: 'changed' });
    expect((await anonymous.get('/contacts', { Authorization: `Bearer ${body.token}` })).status).toBe(401);
    expect((await anonymous.post('/auth/password/reset', { ...choose, new_password: 'another quiet harbour here' })).status).toBe(401);
    expect((await anonymous.post('/auth/login', { email, password: choose.new_password })).status).toBe(200);
  });

  test('is answered the same for an unknown address, to which nothing is sent', async () => {
    const { mail, anonymous } = mailing();
    expect((await anonymous.post('/auth/password/forgot', { email: newEmail() })).body).toEqual({ status: 'requested' });
    const { email } = await signUp();
    await anonymous.post('/auth/password/forgot', { email });
    await vi.waitFor(() => expect(mail.sent.map(({ to }) => to)).toEqual([email]));
  });

  test('is mailed five times an hour and no more', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { anonymous } = mailing();
    const email = newEmail();
    const address = { 'cf-connecting-ip': '192.0.2.77' };
    for (let n = 0; n < 5; n++) expect((await anonymous.post('/auth/password/forgot', { email }, address)).status).toBe(200);
    expect(await anonymous.post('/auth/password/forgot', { email }, address)).toMatchObject({ status: 429 });
    vi.setSystemTime(Date.now() + 3_600_001);
    expect((await anonymous.post('/auth/password/forgot', { email }, address)).status).toBe(200);
  });

  test('needs an admin where the service sends no mail, and the answer says so', async () => {
    const anonymous = new Client(undefined);
    expect(await anonymous.post('/auth/password/forgot', { email: newEmail() })).toMatchObject({
      status: 409,
      body: { detail: 'no_mail_sender', message: expect.stringContaining('ask an admin') },
    });
    expect((await anonymous.post('/auth/password/forgot', { email: 'nobody' })).status).toBe(422);
  });
});
