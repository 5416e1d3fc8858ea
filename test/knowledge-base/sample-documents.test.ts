import { expect, test } from 'vitest';
import { documentBytes, documentNames, type DocumentName } from '../fixtures/documents/documents.ts';
import { knowledgeService } from './knowledge-service.ts';

/** A question, and what the chunk that answers it says. */
const questions: Record<Exclude<DocumentName, 'password.pdf'>, [question: string, answer: string]> = {
  'docx-tables.docx': ['simple uniform table', 'Header Col 1 | Header Col 2'],
  'eng_spa_mult.md': ['born free and equal in dignity', 'All human beings are born free'],
  'fake-doc.rtf': ['Row 2, Cell 1', 'Column 1 | Column 2'],
  'fake-email.eml': ['test email for unit tests', 'This is a test email'],
  'fake-html-cp1252.html': ['Kaffee mit Kuchen', 'Die schöne Frau'],
  'fake-power-point-table.pptx': ['tangerine', 'Tangerine | Pink | Aqua'],
  'fake-text-utf-16.txt': ['Doylestown', 'Doylestown, PA 18901'],
  'handbook-1p.docx': ['fiduciary responsibility to the bankruptcy estate', 'fiduciary responsibility'],
  'korean-text-with-tables.pdf': ['LPG충전소', 'LPG충전소'],
  'layout-parser-paper-fast.pdf': ['toolkit for document image analysis', 'LayoutParser'],
  'list-item-example.pdf': ['who is involved in product development and quality assurance', 'What are product types?'],
  'more-than-1k-cells.xlsx': ['x', 'x | x | x'],
  'multi-column-2p.pdf': ['dense encoder of the passage retriever', 'Our dense passage retriever (DPR) uses a dense encoder'],
  'r2r.docx': ['presentation layer', 'Presentation Layer: Handles user interface'],
  'r2r.pdf': ['dummy', 'Dummy PDF file'],
};

const failures = { 'password.pdf': /protected by a password/ };
const hasFailure = (name: DocumentName): name is keyof typeof failures => name in failures;

test.each(documentNames)('%s is completed and found, or failed with the reason', async (filename) => {
  const service = await knowledgeService();
  const record = await service.process({ content: documentBytes(filename), filename, mimeType: 'application/octet-stream' });
  if (hasFailure(filename)) {
    const reason = failures[filename];
    expect(record).toMatchObject({ processing_status: 'failed', processing_error: expect.stringMatching(reason), total_chunks: 0 });
    return;
  }
  expect(record).toMatchObject({ processing_status: 'completed', processing_error: null, file_size_bytes: documentBytes(filename).length });
  expect(record.total_chunks).toBeGreaterThan(0);
  const [question, answer] = questions[filename];
  const found = await service.search(question, { limit: 3 });
  expect(
    found.some(({ chunk_text }) => chunk_text.includes(answer)),
    JSON.stringify(found.map(({ chunk_text }) => chunk_text)),
  ).toBe(true);
});
