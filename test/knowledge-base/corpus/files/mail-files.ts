import { encodeText } from '../../../support/encode-text.ts';
import { prose } from '../../../support/returns-policies.ts';
import { heading, item, table, text, type CorpusFile, type Part } from '../source.ts';
import { attachment, fromBinary, mailHeaders, mailPart, multipart, toBinary, toMail } from '../write/write-mail.ts';
import { splitPolicy } from './encoded-files.ts';

const file = (name: string, bytes: Uint8Array, source: Part[], more: Partial<CorpusFile> = {}): CorpusFile => ({
  name,
  bytes: () => bytes.slice(),
  source,
  ...more,
});
const head = (subject: string): Part[] => [heading(1, subject), text(mailHeaders)];
const [title, body] = splitPolicy(prose['de']!);

export const mailFiles: CorpusFile[] = [
  file(
    'both-kinds.eml',
    toMail(
      title,
      multipart('alternative', [
        mailPart('text/plain', 'Plain words only here\n'),
        mailPart(
          'text/html',
          `<h2>Offer 7</h2><p>${body}</p><table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>2.50</td></tr></table>`,
          {
            charset: 'iso-8859-1',
            transfer: 'quoted-printable',
          },
        ),
      ]),
    ),
    [...head(title), heading(2, 'Offer 7'), text(body), table(['Item', 'Price'], ['Tea', '2.50'])],
  ),
  file(
    'quotes.eml',
    toMail(
      'Re: Order 4711',
      mailPart(
        'text/plain',
        `Yes, of course.\n\nAm 3. Mai schrieb Bob:\n> May I send it back?\n> It is 5 days old.\n>> Dear all\n\n-- \nAda, Acme 0800 123\n`,
        {
          transfer: 'base64',
        },
      ),
    ),
    [
      ...head('Re: Order 4711'),
      text('Yes, of course.'),
      text('Am 3. Mai schrieb Bob:\n> May I send it back?\n> It is 5 days old.\n>> Dear all'),
      text('--\nAda, Acme 0800 123'),
    ],
  ),
  file(
    'flowed.eml',
    toMail('Flowed', mailPart('text/plain', 'A line that \nflows on to 5 \nand ends.\nNext 6.\n', { more: '; format=flowed' })),
    [...head('Flowed'), text('A line that flows on to 5 and ends.\nNext 6.')],
  ),
  file(
    'attachments.eml',
    toMail(
      'Files',
      multipart('mixed', [
        mailPart('text/plain', 'See 2 files.\n'),
        attachment('price list.pdf', 'application/pdf', '%PDF-1.4'),
        attachment('notes.txt', 'text/plain', 'words'),
      ]),
    ),
    [...head('Files'), text('See 2 files.'), text('Attachments: price list.pdf, notes.txt')],
    { warned: ['attachments_left_out'] },
  ),
  file(
    'picture-in-text.eml',
    toMail(
      'Picture',
      multipart('related', [
        mailPart('text/html', '<p>Look 5</p><img src="cid:a" alt="Logo of Acme">'),
        `Content-Type: image/png\r\nContent-ID: <a>\r\nContent-Disposition: inline; filename="logo.png"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n`,
      ]),
    ),
    [...head('Picture'), text('Look 5'), text('Logo of Acme')],
    { warned: ['images_skipped'] },
  ),
  file(
    'forwarded.eml',
    toMail(
      'Fwd: Order',
      multipart('mixed', [
        mailPart('text/plain', 'Please answer 1.\n'),
        `Content-Type: message/rfc822\r\n\r\n${toBinary(toMail('Order', mailPart('text/plain', 'I want 3 cups.\n')))}`,
      ]),
    ),
    [
      ...head('Fwd: Order'),
      text('Please answer 1.'),
      text('From: Ada <ada@example.org>\nSubject: Order\nDate: 12/16/2022, 17:04:16\nTo: Bob <bob@example.org>'),
      text('I want 3 cups.'),
    ],
  ),
  file(
    'text-and-page.eml',
    toMail(
      'Mixed',
      multipart('mixed', [mailPart('text/plain', 'First 1.\n'), mailPart('text/html', '<p>Second 2.</p><ul><li>third 3</li></ul>')]),
    ),
    [...head('Mixed'), text('First 1.'), text('Second 2.'), item('', 'third 3')],
  ),
  file(
    'long-subject.eml',
    fromBinary(
      `From: =?utf-8?Q?J=C3=BCrgen_M=C3=BCller?= <j@example.org>\r\nTo: =?iso-8859-1?Q?Andr=E9?= <a@example.org>,\r\n "Meier, Bob" <b@example.org>\r\nCc: c@example.org\r\n` +
        `Subject: =?utf-8?B?${btoa(toBinary(encodeText('Größe und ', 'utf-8')))}?=\r\n =?utf-8?B?${btoa(toBinary(encodeText('Preis 5 €', 'utf-8')))}?=\r\nDate: Fri, 16 Dec 2022 17:04:16 +0100\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${toBinary(encodeText('Schöne Grüße 7', 'utf-8'))}\r\n`,
    ),
    [
      heading(1, 'Größe und Preis 5 €'),
      text(
        'From: Jürgen Müller <j@example.org>\nTo: André <a@example.org>, Meier, Bob <b@example.org>\nCc: c@example.org\nDate: 2022-12-16T16:04:16.000Z',
      ),
      text('Schöne Grüße 7'),
    ],
  ),
  file(
    'wrong-charset.eml',
    fromBinary(
      `From: a@example.org\r\nTo: b@example.org\r\nSubject: Hours\r\nDate: Fri, 16 Dec 2022 17:04:16 +0000\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nOpen \u00e4 9\r\n`,
    ),
    [heading(1, 'Hours'), text('From: a@example.org\nTo: b@example.org\nDate: 2022-12-16T17:04:16.000Z'), text('Open \ufffd 9')],
    { warned: ['characters_damaged'] },
  ),
];
