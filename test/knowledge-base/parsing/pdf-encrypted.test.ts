import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { rc4 } from '../../../src/knowledge-base/parsing/pdf/encryption/rc4.ts';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { smallPdf, type SmallPdf } from '../../fixtures/documents/small-pdfs.ts';
import { failureOf, outlineOf } from '../document-support.ts';
import { drawing, pdfOf, someText } from './make-raw-pdf.ts';

// Each is one page with letters that are set apart, a text that stands for what is drawn, a hidden layer, glyphs by their names, and a filled field. The copies are made by qpdf.
test.each<SmallPdf>([
  'encrypted-rc4-40.pdf',
  'encrypted-rc4-128.pdf',
  'encrypted-aes-128.pdf',
  'encrypted-aes-256.pdf',
  'encrypted-aes-256-r5.pdf',
])('an encrypted file that opens without a password is read like any other: %s', async (name) => {
  const document = await parseDocument(smallPdf(name), 'report.pdf');
  expect(outlineOf(document).map((line) => line.replace(/^\S+ /, ''))).toEqual([
    'ANNUAL REPORT',
    'The office is open.',
    'ffi\ufffd€',
    'customer_name: Anna (A.) Schmidt\\Müller',
  ]);
  expect(document.warnings.map(({ code, count }) => [code, count])).toEqual([
    ['hidden_left_out', 1],
    ['characters_damaged', 1],
  ]);
});

test.each<SmallPdf>(['password-rc4-128.pdf', 'password-aes-256.pdf'])('a file that needs a password says so: %s', async (name) => {
  expect(await failureOf(smallPdf(name), name)).toMatchObject({ code: 'password_protected' });
});

const padding = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');
const md5 = (...parts: Uint8Array[]) => createHash('md5').update(Buffer.concat(parts)).digest();

/** A page that `content` draws, packed and encrypted by revision 2, as objects 1 to 6. */
function encrypted(content: string, entries = ''): Uint8Array {
  const owner = Buffer.alloc(32, 7);
  const key = md5(padding, owner, Buffer.from([0xfc, 0xff, 0xff, 0xff])).subarray(0, 5);
  const streamKey = md5(key, Buffer.from([4, 0, 0, 0, 0])).subarray(0, 10);
  const hex = (bytes: Uint8Array) => `<${Buffer.from(bytes).toString('hex')}>`;
  const bytes = pdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>',
    ['/Filter /FlateDecode', rc4(streamKey, deflateSync(content))],
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Filter /Standard /V 1 /R 2 /O ${hex(owner)} /U ${hex(rc4(key, padding))} /P -4 ${entries} >>`,
  ]);
  const text = Buffer.from(bytes).toString('latin1').replace('/Root 1 0 R', '/Root 1 0 R /Encrypt 6 0 R');
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

test('the limits of unpacked bytes hold for what is encrypted, too', async () => {
  expect(outlineOf(await parseDocument(encrypted(someText), 'a.pdf'))).toEqual(['p hello']);
  const bomb = encrypted(`${someText} ${' '.repeat(65 << 20)}`);
  expect(await failureOf(bomb, 'bomb.pdf')).toMatchObject({ code: 'too_large' });
});

test('a handler other than that of passwords is a file that needs one', async () => {
  const text = Buffer.from(encrypted(someText)).toString('latin1').replace('/Filter /Standard', '/Filter /Adobe.PPK');
  expect(await failureOf(new Uint8Array(Buffer.from(text, 'latin1')), 'a.pdf')).toMatchObject({ code: 'password_protected' });
});

test('a page that writes the key of encryption in its text is not encrypted', async () => {
  const bytes = drawing(['', 'BT /F1 10 Tf 50 700 Td (Use /Encrypt 6 0 R or /Encrypt <</V 1>>) Tj ET']);
  expect(outlineOf(await parseDocument(bytes, 'a.pdf'))).toEqual(['p Use /Encrypt 6 0 R or /Encrypt <</V 1>>']);
});
