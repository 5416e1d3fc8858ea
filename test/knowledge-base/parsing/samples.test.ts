import { expect, test } from 'vitest';
import { documentText } from '../../../src/knowledge-base/chunks/split-blocks.ts';
import { parseDocument } from '../../../src/knowledge-base/parsing/parse-document.ts';
import { documentBytes, documentNames, type DocumentName } from '../../fixtures/documents/documents.ts';
import { expectInOrder, failureOf } from '../document-support.ts';

const read = (name: DocumentName) => parseDocument(documentBytes(name), name);

/** What a person reads in each file, in the order in which a person reads it. */
const snippets: Record<Exclude<DocumentName, 'password.pdf'>, string[]> = {
  'docx-tables.docx': [
    'Simple uniform table',
    'Header Col 1 | Header Col 2\nLorem ipsum | A link example',
    'Nested Table',
    'a | >b< | c',
    'e | f\ng&t | h',
    'i',
    'j | k | l',
    'Table with merged cells',
  ],
  'eng_spa_mult.md': ['All human beings are born free and equal in dignity and rights.', 'Todos los seres humanos nacen libres e iguales'],
  'fake-doc.rtf': [
    'My First Heading',
    'My first paragraph.',
    'Table Example:',
    'Column 1 | Column 2\nRow 1, Cell 1 | Row 1, Cell 2\nRow 2, Cell 1 | Row 2, Cell 2',
  ],
  'fake-email.eml': [
    'Test Email',
    'From: Matthew Robinson <mrobinson@unstructured.io>\nTo: NotMatthew <NotMatthew@notunstructured.com>',
    'This is a test email to use for unit tests.',
    'Important points:',
    'Roses are red\nViolets are blue',
  ],
  'fake-html-cp1252.html': [
    'My First Heading',
    'My first paragraph.',
    'Die schöne Frau hat einen Kaffee mit Kuchen gegessen.',
    'Der Preis betrug 15,50 €.',
    "L'été était très chaud cette année.",
    'El niño comió paella con ñoquis.',
  ],
  'fake-power-point-table.pptx': [
    'A Slide with a Table',
    'Column 1 | Column 2 | Column 3\nRed | Green | Blue\nPurple | Orange | Yellow\nTangerine | Pink | Aqua',
  ],
  'fake-text-utf-16.txt': [
    'This is a test document to use for unit tests.',
    'Doylestown, PA 18901',
    'Important points:',
    'Hamburgers are delicious\nDogs are the best\nI love fuzzy blankets',
  ],
  'handbook-1p.docx': [
    'CHAPTER 1',
    'INTRODUCTION',
    'A. PURPOSE',
    'The United States Trustee appoints and supervises standing trustees',
    'B. ROLE OF THE UNITED STATES TRUSTEE',
    'The Bankruptcy Reform Act of 1978 removed the bankruptcy judge',
    'C. STATUTORY DUTIES OF A STANDING TRUSTEE',
    'The standing trustee has a fiduciary responsibility to the bankruptcy estate.',
  ],
  'korean-text-with-tables.pdf': [
    '할인점·주유·온라인쇼핑몰 1.5% 빅포인트 적립',
    '업종 | 적립 대상\n할인점 | 이마트, 이마트 트레이더스, 롯데마트, 홈플러스\n주유 | 모든 주유소\n온라인쇼핑몰 | 삼성카드 쇼핑, G마켓, 옥션, 11번가, 인터파크, 쿠팡, 티몬, 위메프',
    '주유는 LPG충전소 포함',
    '커피전문점·제과점·편의점 2% 빅포인트 적립',
    '제과점 | 파리바게뜨, 뚜레쥬르\n편의점 | CU, GS25, 세븐일레븐, 미니스톱',
    '서비스 제공 기준',
    '전월 이용금액 제외 대상',
    '적립 제외 대상',
    '기타',
    '빅포인트의 유효기간은 5년으로, 유효기간 만료 시 월 단위로 자동 소멸',
  ],
  'layout-parser-paper-fast.pdf': [
    'LayoutParser: A Unified Toolkit for Deep Learning Based Document Image Analysis',
    'Zejiang Shen1',
    'Abstract. Recent advances in document image analysis (DIA) have been primarily driven by the application of neural networks.',
    'complicate the easy reuse of important innovations by a wide audience.',
    '1 Introduction',
    '1. An off-the-shelf toolkit for applying DL models for layout detection, character recognition, and other DIA tasks (Section 3)',
    '2. A rich repository of pre-trained neural network models (Model Zoo) that underlies the off-the-shelf usage',
  ],
  'list-item-example.pdf': [
    'Module One - Introduction to Product Development and Quality Assurance',
    'This module introduces the learner to the importance and principles of product development and quality assurance',
    'What are product types?\nWhat challenges may arise in development?\nWhat is product development and quality assurance, and who is involved?',
    'Timescales and conduct of development',
    'Module Two: Initial Planning and Step 1: Concept Development',
    'Module Three: Step 2: Design and Prototyping',
    'Determining root challenges: market factors',
    'How will the product meet market needs?',
  ],
  'more-than-1k-cells.xlsx': ['x | x | x'],
  'multi-column-2p.pdf': [
    'Dense Passage Retrieval for Open-Domain Question Answering',
    'Abstract',
    'Open-domain question answering relies on efficient passage retrieval to select candidate contexts, where traditional sparse vector space models, such as TF-IDF or BM25, are the de facto method. In this work, we show that retrieval can be practically implemented using dense representations alone',
    '1 Introduction',
    'While early QA systems are often complicated and consist of multiple components',
    'Retrieval in open-domain QA is usually implemented using TF-IDF or BM25',
    'QA datasets, it also suffers from two weaknesses.',
    '2 Background',
    '3 Dense Passage Retriever (DPR)',
    '3.1 Overview',
    'Our dense passage retriever (DPR) uses a dense encoder',
  ],
  'r2r.docx': [
    'Technical Documentation: System Architecture Overview',
    '1. Introduction',
    'This document provides a comprehensive overview of our system architecture',
    'Presentation Layer: Handles user interface and client interactions\nBusiness Logic Layer:',
    '5. Security Measures',
  ],
  'r2r.pdf': ['Dummy PDF file'],
};

test.each(Object.entries(snippets))('%s is read as a person reads it', async (name, expected) => {
  const document = await read(name as DocumentName);
  expectInOrder(document, expected);
  expect(document.metadata.type).toBe(name.split('.').at(-1));
});

test('no text has markup, controls or blanks at its ends', async () => {
  for (const name of documentNames.filter((other) => other !== 'password.pdf'))
    for (const { text } of (await read(name)).blocks) {
      // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
      expect(text, name).not.toMatch(/<\/?(?:p|td|tr|table|div|span|strong|w:\w+)\b|\\par\b|[\u0000-\u0008\u000b-\u001f]/);
      expect(text, name).toBe(text.trim());
    }
});

test('a protected PDF says so', async () => {
  const failure = await failureOf(documentBytes('password.pdf'), 'password.pdf');
  expect(failure.code).toBe('password_protected');
  expect(failure.message).toBe('The file is protected by a password; save it without one and upload it again');
});

test('a file of no bytes is empty', async () => {
  expect(await failureOf(new Uint8Array(), 'empty.txt')).toMatchObject({
    code: 'empty',
    message: expect.stringContaining('The file is empty'),
  });
});

test('headings, list items and pages are distinguished', async () => {
  const { blocks, metadata } = await read('multi-column-2p.pdf');
  expect(metadata).toEqual({ type: 'pdf', pages: 2, pages_without_text: 0 });
  const headings = blocks.filter((block) => block.kind === 'heading').map(({ level, text, page }) => [level, text, page]);
  expect(headings).toEqual([
    [1, 'Dense Passage Retrieval for Open-Domain Question Answering', 1],
    [2, 'Abstract', 1],
    [2, '1 Introduction', 1],
    [2, '2 Background', 2],
    [2, '3 Dense Passage Retriever (DPR)', 2],
    [3, '3.1 Overview', 2],
  ]);
});

test('a sentence that goes on in the next column or on the next page is one', async () => {
  const text = documentText(await read('multi-column-2p.pdf'));
  expect(text).toContain('setting new state-of-the-art results on multiple open-domain QA datasets, it also suffers from two weaknesses.');
  expect(documentText(await read('layout-parser-paper-fast.pdf'))).toContain(
    'including document image classification [11, 37], layout detection',
  );
});

test('the title is what the document says, or its first heading', async () => {
  expect((await read('fake-email.eml')).title).toBe('Test Email');
  expect((await read('list-item-example.pdf')).title).toBe('Unstructured-test-doc');
  expect((await read('fake-html-cp1252.html')).title).toBe('My First Heading');
  expect((await read('fake-text-utf-16.txt')).title).toBeNull();
});
