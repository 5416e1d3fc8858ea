import { afterEach, describe, expect, test, vi } from 'vitest';
import { linesLoggedBy, newEmail, serviceWith, signUp } from '../../http/service.ts';
import { MailFake } from '../../support/mail-fake.ts';
import { Client, newOrganization } from '../../support/organization.ts';

afterEach(() => vi.useRealTimers());

const from = 'calls@example.com';
function mailing(more: Record<string, string> = { PUBLIC_URL: 'https://calls.example.com/' }) {
  const mail = new MailFake(from);
  const send = serviceWith({ MAIL: mail, MAIL_FROM: from, PUBLIC_URL: '', CONSOLE_URL: '', ...more });
  return { mail, send, anonymous: new Client(undefined, send), of: (key: string) => new Client(key, send) };
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
    expect(mail.sent[0]!.text).toContain('https://calls.example.com/docs/people#invitation=');
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

  test('is handed over where no setting says where its link leads: the caller chooses the origin of a request', async () => {
    const { mail, of } = mailing({});
    const { key } = await newOrganization();
    const { body } = await of(key).post('/organizations/invitations', { role: 'viewer', email: newEmail() });
    expect(body.delivery).toEqual({ by: 'link', detail: expect.stringContaining('PUBLIC_URL or CONSOLE_URL') });
    expect(mail.sent).toEqual([]);
    const own = mailing({ CONSOLE_URL: 'https://console.example.com/join' });
    await own.of(key).post('/organizations/invitations', { role: 'viewer', email: newEmail() });
    expect(own.mail.sent[0]!.text).toContain('https://console.example.com/join#invitation=vai_');
  });

  test('is mailed to one address five times an hour, whichever organization sends it, and handed over beyond', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { mail, of } = mailing();
    const email = newEmail();
    const inviteFrom = async (address: string): Promise<string> => {
      const { key } = await newOrganization();
      const { body } = await of(key).post('/organizations/invitations', { role: 'viewer', email }, { 'cf-connecting-ip': address });
      expect(body.token).toMatch(/^vai_/);
      return body.delivery.by;
    };
    for (let n = 1; n <= 5; n++) expect(await inviteFrom(`198.51.100.${n}`)).toBe('mail');
    expect(await inviteFrom('198.51.100.6')).toBe('link');
    expect(mail.sent).toHaveLength(5);
    vi.setSystemTime(Date.now() + 3_600_001);
    expect(await inviteFrom('198.51.100.7')).toBe('mail');
  });

  test('is mailed fifty times an hour by one organization, also when each is revoked, and from one network', async () => {
    const { mail, of } = mailing();
    const team = [await newOrganization(), await newOrganization()] as const;
    const sent = async ({ key }: { key: string }, address: string): Promise<string> => {
      const { body } = await of(key).post(
        '/organizations/invitations',
        { role: 'viewer', email: newEmail() },
        { 'cf-connecting-ip': address },
      );
      expect((await of(key).delete(`/organizations/invitations/${body.id}`)).status).toBe(200);
      return body.delivery.by;
    };
    const seen = [];
    for (let n = 0; n < 50; n++) seen.push(await sent(team[0], '203.0.113.4'));
    expect(new Set(seen)).toEqual(new Set(['mail']));
    expect(await sent(team[0], '203.0.113.5')).toBe('link');
    expect(await sent(team[1], '203.0.113.4')).toBe('link');
    expect(await sent(team[1], '203.0.113.5')).toBe('mail');
    expect(mail.sent).toHaveLength(51);
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

  test('leads where the settings say, whatever origin the request names', async () => {
    const { email } = await signUp();
    const { mail, send } = mailing();
    const forgot = (via: typeof send) =>
      via(
        new Request('https://evil.example/api/v1/auth/password/forgot', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-Forwarded-Host': 'evil.example', Origin: 'https://evil.example' },
          body: JSON.stringify({ email }),
        }),
      );
    expect((await forgot(send)).status).toBe(200);
    await vi.waitFor(() => expect(mail.sent).toHaveLength(1));
    expect(mail.sent[0]!.text).toContain('https://calls.example.com/docs/people#password-reset=var_');
    expect(mail.sent[0]!.text).not.toContain('evil');
    const without = mailing({});
    const refused = await forgot(without.send);
    expect([refused.status, await refused.json()]).toEqual([409, expect.objectContaining({ detail: 'no_mail_sender' })]);
    expect(without.mail.sent).toEqual([]);
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
