import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { encodedFiles } from './files/encoded-files.ts';
import { languageFiles } from './files/language-files.ts';
import { mailFiles } from './files/mail-files.ts';
import { markupFiles } from './files/markup-files.ts';
import { pdfFiles } from './files/pdf-files.ts';
import { presentationFiles } from './files/presentation-files.ts';
import { richTextFiles } from './files/rich-text-files.ts';
import { tableFiles } from './files/table-files.ts';
import { wordFiles } from './files/word-files.ts';
import { workbookFiles } from './files/workbook-files.ts';
import { readStructure, readTokens, sourceStructure, sourceTokens, subtract, tokensOf, type CorpusFile } from './source.ts';

const files: CorpusFile[] = [
  ...encodedFiles,
  ...languageFiles,
  ...tableFiles,
  ...markupFiles,
  ...richTextFiles,
  ...mailFiles,
  ...wordFiles,
  ...presentationFiles,
  ...workbookFiles,
  ...pdfFiles,
];
const types = ['pdf', 'docx', 'pptx', 'xlsx', 'csv', 'tsv', 'txt', 'md', 'html', 'json', 'rtf', 'eml'];

test('the corpus has at least 80 files, each with a name of its own, and some of every type', () => {
  expect(files.length).toBeGreaterThanOrEqual(80);
  expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
  expect(new Set(files.map(({ name }) => name.split('.').at(-1)))).toEqual(new Set(types));
});

test.each(files)('$name is read whole, in its order, and nothing is added', async (file) => {
  const { leftOut = {}, warned = [], added = '' } = file;
  const document = await parseDocument(await file.bytes(), file.name);
  const [source, read] = [sourceTokens(file.source), readTokens(document)];
  expect({ lost: subtract(source, read), added: subtract(read, source) }).toEqual({ lost: [], added: tokensOf(added) });
  if (added === '') expect(read).toEqual(source);
  expect(readStructure(document)).toEqual(file.structure ?? sourceStructure(file.source));
  expect(document.warnings.map(({ code }) => code).toSorted()).toEqual([...Object.keys(leftOut), ...warned].toSorted());
  for (const words of Object.values(leftOut)) expect(read.filter((token) => tokensOf(words).includes(token))).toEqual([]);
});
