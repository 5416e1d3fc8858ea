import { expect, test } from 'vitest';
import { BlockWriter } from '../../../src/knowledge-base/parsing/block-writer.ts';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { documentBytes } from '../../fixtures/documents/documents.ts';
import { bytesOf, failureOf, outlineOf } from '../document-support.ts';
import { makeArchive, makeWord, makeWorkbook, wordParagraph } from './make-archive.ts';

test('a PDF that is cut off is damaged, wherever it ends', async () => {
  const whole = documentBytes('multi-column-2p.pdf');
  for (const share of [0.01, 0.3, 0.6, 0.9, 0.97])
    expect(await failureOf(whole.slice(0, Math.floor(whole.length * share)), 'cut.pdf')).toMatchObject({
      code: 'damaged',
      message: 'The file is damaged: it is cut off; save or export it once more and upload it again',
    });
});

test.each(['handbook-1p.docx', 'fake-power-point-table.pptx', 'more-than-1k-cells.xlsx'] as const)(
  '%s cut off is damaged',
  async (name) => {
    const whole = documentBytes(name);
    for (const share of [0.2, 0.5, 0.99])
      expect(await failureOf(whole.slice(0, Math.floor(whole.length * share)), name)).toMatchObject({ code: 'damaged' });
  },
);

test('an archive whose packed bytes are damaged is damaged', async () => {
  const bytes = documentBytes('handbook-1p.docx');
  bytes.fill(0xff, 1000, bytes.length - 2000);
  expect(await failureOf(bytes, 'a.docx')).toMatchObject({ code: 'damaged' });
});

test.each(['a.txt', 'a.csv', 'a.md', 'a.html'])('a stray NUL is read as a damaged character and counted: %s', async (name) => {
  const document = await parseDocument(bytesOf('<p>Re\0turns take 45 days</p>'), name);
  expect(outlineOf(document).join(' ')).toContain('Re\ufffdturns take 45 days');
  expect(document.warnings.map(({ code, count }) => [code, count])).toEqual([['characters_damaged', 1]]);
});

test('the first NUL of a file that is no text is named', async () => {
  expect((await failureOf(bytesOf('Name\0\0\0\0City\0\0\0\0'), 'a.txt')).message).toContain('byte 5 is a NUL');
});

test('a wrong extension is found out by the content', async () => {
  const kindOf = async (bytes: Uint8Array, name: string, declared?: string) => (await parseDocument(bytes, name, declared)).metadata.type;
  expect(await kindOf(documentBytes('more-than-1k-cells.xlsx'), 'cells.csv')).toBe('xlsx');
  expect(await kindOf(documentBytes('r2r.pdf'), 'r2r.txt', 'text/plain')).toBe('pdf');
  expect(await kindOf(documentBytes('fake-doc.rtf'), 'letter.txt')).toBe('rtf');
  expect(await kindOf(documentBytes('fake-html-cp1252.html'), 'table.csv')).toBe('html');
  expect(await kindOf(documentBytes('fake-email.eml'), 'mail.txt')).toBe('eml');
  expect(await kindOf(bytesOf('{"a": 1}'), 'export')).toBe('json');
});

const wordType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

test.each([
  ['a note', bytesOf('Just a note'), 'note.pdf', undefined, 'pdf', 'none'],
  ['a note', bytesOf('Just a note'), 'note.txt', 'application/pdf', 'pdf', 'none'],
  ['a note', bytesOf('Just a note'), 'note', 'Application/PDF; version=1.7', 'pdf', 'none'],
  ['a table', bytesOf('a,b\n1,2\n'), 'table.XLSX', undefined, 'xlsx', 'none'],
  ['a page', documentBytes('fake-html-cp1252.html'), 'slides.pptx', undefined, 'pptx', 'none'],
  ['noise', Uint8Array.from({ length: 4000 }, (_, index) => (index * 7919) % 251), 'a.docx', undefined, 'docx', 'none'],
  ['a letter', documentBytes('fake-doc.rtf'), 'letter.docx', undefined, 'docx', 'a rtf'],
  ['a PDF', documentBytes('r2r.pdf'), 'r2r.docx', undefined, 'docx', 'a pdf'],
  ['a Word document', documentBytes('r2r.docx'), 'r2r.pdf', 'application/pdf', 'pdf', 'a docx'],
  ['a workbook', documentBytes('more-than-1k-cells.xlsx'), 'cells', wordType, 'docx', 'a xlsx'],
])('%s that is said to be of another binary format is refused with both', async (_what, bytes, name, type, declared, found) => {
  expect(await failureOf(bytes, name, type)).toMatchObject({
    code: 'unsupported_type',
    message: expect.stringContaining(`the file is a ${declared}, and by its content it is ${found};`),
  });
});

test('of a name and a mime type that differ, either may be right', async () => {
  expect((await parseDocument(documentBytes('r2r.docx'), 'r2r.pdf', wordType)).metadata.type).toBe('docx');
  expect((await parseDocument(documentBytes('r2r.docx'), 'r2r.docx', 'application/pdf')).metadata.type).toBe('docx');
  expect((await parseDocument(documentBytes('r2r.docx'), 'r2r.docx', 'application/octet-stream')).metadata.type).toBe('docx');
});

test('the declared type decides only where the name says nothing', async () => {
  const bytes = () => bytesOf('a,b\n1,2\n');
  expect((await parseDocument(bytes(), 'upload', 'text/csv; charset=utf-8')).metadata.type).toBe('csv');
  expect((await parseDocument(bytes(), 'upload.txt', 'text/csv')).metadata.type).toBe('txt');
});

const picture = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13);

test.each([
  ['a PNG picture', picture, 'scan.pdf'],
  ['a zip archive', await makeArchive({ 'readme.txt': 'hello' }), 'all.docx'],
  ['an OpenDocument file', await makeArchive({ 'META-INF/manifest.xml': '<m/>', 'content.xml': '<c/>' }), 'a.odt'],
  ['an XML file', bytesOf('<?xml version="1.0"?><feed><entry/></feed>'), 'feed.xml'],
  ['neither text nor a known kind', Uint8Array.from({ length: 4000 }, (_, index) => (index * 7919) % 251), 'a.bin'],
])('%s is refused by its name', async (what, bytes, name) => {
  expect(await failureOf(bytes, name)).toMatchObject({ code: 'unsupported_type', message: expect.stringContaining(what) });
});

test('old and protected Office files share a container and are distinguished', async () => {
  const container = (stream: string) => {
    const bytes = new Uint8Array(4096);
    bytes.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
    bytes.set(
      [...stream].flatMap((sign) => [sign.charCodeAt(0), 0]),
      1024,
    );
    return bytes;
  };
  expect(await failureOf(container('EncryptedPackage'), 'a.docx')).toMatchObject({ code: 'password_protected' });
  expect(await failureOf(container('WordDocument'), 'a.doc')).toMatchObject({
    code: 'unsupported_type',
    message: expect.stringContaining('(.doc)'),
  });
  expect(await failureOf(container('Workbook'), 'a.xls')).toMatchObject({
    message: expect.stringContaining('save it as .docx, .pptx, .xlsx or .pdf'),
  });
});

test('an archive that unpacks to far more than it is, is refused by what it declares', async () => {
  const bytes = await makeWord(wordParagraph(' '.repeat(12 << 20)));
  expect(bytes.length).toBeLessThan(100_000);
  expect(await failureOf(bytes, 'bomb.docx')).toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('unpacked it takes more than 12 MiB'),
  });
});

test('an archive that declares less than it unpacks to is refused while it is unpacked', async () => {
  const bytes = await makeWorkbook([{ name: 'A', rows: ' '.repeat(12 << 20) }]);
  expect(lie(bytes, 'xl/worksheets/sheet1.xml', 1000)).toBe(true);
  expect(await failureOf(bytes, 'bomb.xlsx')).toMatchObject({ code: 'too_large', message: expect.stringContaining('10 MiB') });
});

/** Writes another unpacked size into the directory of an archive. */
function lie(bytes: Uint8Array, name: string, size: number): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let place = 0; place < bytes.length - 46; place += 1) {
    if (view.getUint32(place, true) !== 0x02014b50) continue;
    const length = view.getUint16(place + 28, true);
    if (new TextDecoder().decode(bytes.subarray(place + 46, place + 46 + length)) !== name) continue;
    view.setUint32(place + 24, size, true);
    return true;
  }
  return false;
}

test('an archive of very many parts is refused before they are listed', async () => {
  const entry = new Uint8Array(50);
  new DataView(entry.buffer).setUint32(0, 0x02014b50, true);
  new DataView(entry.buffer).setUint16(28, 4, true);
  const bytes = new Uint8Array(4 + 20_001 * entry.length + 22);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0x04034b50, true);
  for (let index = 0; index < 20_001; index += 1) bytes.set(entry, 4 + index * entry.length);
  view.setUint32(bytes.length - 22, 0x06054b50, true);
  view.setUint32(bytes.length - 6, 4, true);
  expect(await failureOf(bytes, 'many.docx')).toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('more than 20000 parts'),
  });
});

test('a protected archive says so', async () => {
  const bytes = await makeWord(wordParagraph('secret'));
  const view = new DataView(bytes.buffer);
  for (let place = 0; place < bytes.length - 46; place += 1)
    if (view.getUint32(place, true) === 0x02014b50) view.setUint16(place + 8, 1, true);
  expect(await failureOf(bytes, 'a.docx')).toMatchObject({ code: 'password_protected' });
});

const nestedMail = (depth: number): string => {
  const parts = Array.from({ length: depth }, (_, index) => `Content-Type: multipart/mixed; boundary=b${index}\r\n\r\n--b${index}\r\n`);
  return `From: a@example.org\r\nTo: b@example.org\r\nSubject: s\r\n${parts.join('')}\r\nhello\r\n`;
};

test.each([
  ['a.html', `<!doctype html>${'<div>'.repeat(100_000)}x`],
  ['a.json', '['.repeat(100_000)],
  ['a.json', '{"a":'.repeat(100_000)],
  ['a.rtf', `{\\rtf1 ${'{'.repeat(100_000)}`],
  ['a.eml', nestedMail(2000)],
  ['a.md', `${'> '.repeat(20_000)}x`],
])('what lies too deep in each other is refused: %s', async (name, text) => {
  expect(await failureOf(bytesOf(text), name)).toMatchObject({ code: 'too_large' });
});

test('a Word document nested too deep is refused', async () => {
  expect(await failureOf(await makeWord('<w:sdt><w:sdtContent>'.repeat(3000)), 'a.docx')).toMatchObject({ code: 'too_large' });
});

test('damaged JSON and RTF say what is wrong', async () => {
  expect(await failureOf(bytesOf('{"a": 1,'), 'a.json')).toMatchObject({ code: 'damaged', message: expect.stringContaining('cut off') });
  expect(await failureOf(bytesOf('{"a": b}'), 'a.json')).toMatchObject({ code: 'damaged', message: expect.stringContaining('no JSON') });
  expect(await failureOf(bytesOf('{\\rtf1 hello'), 'a.rtf')).toMatchObject({
    code: 'damaged',
    message: expect.stringContaining('cut off'),
  });
});

test('more text or more paragraphs than a document may hold are refused', () => {
  const text = new BlockWriter();
  for (let index = 0; index < 512; index += 1) text.paragraph('a'.repeat(1 << 16));
  expect(() => text.paragraph('a')).toThrow(
    'The file is too large: it holds more than 33 million characters of text; split it into smaller files',
  );
  const paragraphs = new BlockWriter();
  for (let index = 0; index < 300_000; index += 1) paragraphs.paragraph('a');
  expect(() => paragraphs.paragraph('a')).toThrow('more than 300000 paragraphs');
});
