import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readAgent, withDocuments } from '../../scripts/tour/agents.ts';
import {
  describeDocument,
  handbook,
  readHandbook,
  describeReceipt,
  listReceipts,
  type Document,
  type Receipt,
} from '../../scripts/tour/handbook.ts';
import { askHandbook } from '../../scripts/tour/steps/ask-handbook.ts';
import { uploadHandbook } from '../../scripts/tour/steps/upload-handbook.ts';
import { tourAt, tourBase as base } from './tour-at.ts';

const uuid = '7a0c9f9e-64a5-4a55-9f0c-0d9b8ff5c2a1';
const document = (more: Partial<Document> = {}): Document => ({
  document_uuid: uuid,
  filename: 'handbook.md',
  processing_status: 'completed',
  processing_error: null,
  total_chunks: 6,
  file_hash: createHash('sha256').update(readHandbook()).digest('hex'),
  ...more,
});
const receipt: Receipt = {
  chunk_id: 4,
  document_uuid: uuid,
  filename: 'handbook.md',
  similarity: 0.357,
  vector_rank: 1,
  keyword_rank: null,
};
const chunk = (chunk_text: string) => ({ chunk_text, chunk_metadata: { headings: ['Acme', 'Warranty'] }, similarity: 0.36 });
const answerText = 'The compressor of every heat pump carries a warranty of seven years.';

describe('the handbook', () => {
  test('alone tells what is asked: the agent does not', () => {
    expect(readHandbook()).toMatch(handbook.answer);
    expect(JSON.stringify(readAgent('help-desk'))).not.toMatch(handbook.answer);
    expect(handbook.question).not.toMatch(handbook.answer);
  });

  test('is named by every node that answers, and by no goodbye', () => {
    const { nodes } = withDocuments(readAgent('help-desk'), [uuid]).workflow_definition;
    expect(nodes.map(({ type, data }) => [type, (data as { document_uuids?: string[] }).document_uuids])).toEqual([
      ['startCall', [uuid]],
      ['endCall', undefined],
    ]);
  });
});

test('documents and receipts read as sentences', () => {
  expect(describeDocument(document())).toBe('completed, 6 chunks');
  expect(describeDocument(document({ processing_status: 'failed', processing_error: 'The file is empty', total_chunks: 0 }))).toBe(
    'failed: The file is empty',
  );
  expect(describeReceipt(receipt)).toBe('chunk 4 of handbook.md: similarity 0.36, number 1 by meaning, not found by words');
  expect(
    listReceipts([
      { type: 'agent_said', payload: { text: 'x' } },
      { type: 'tool_called', payload: { receipts: [receipt] } },
    ]),
  ).toEqual([receipt]);
});

describe('uploading it', () => {
  const upload = {
    'POST /knowledge-base/upload-url': [{ upload_url: `${base}/put-here`, document_uuid: uuid, storage_key: 'k' }],
    'PUT /put-here': [{ status: 'uploaded' }],
    'POST /knowledge-base/process-document': [document({ processing_status: 'pending', total_chunks: 0 })],
    'POST /knowledge-base/search': [{ chunks: [chunk(`Warranty\n${answerText}`)] }],
  };
  const path = `GET /knowledge-base/documents/${uuid}`;
  const none = { 'GET /knowledge-base/documents': [{ documents: [document({ file_hash: 'another' })] }] };

  test('tells each state until it can be found, and what a search finds', async () => {
    const states = [document({ processing_status: 'processing', total_chunks: 0 }), document()];
    const { tour, said, asked } = tourAt({ ...upload, ...none, [path]: states });
    await uploadHandbook.run(tour);
    expect(said.filter((line) => /^\d+\.\d s {2}/.test(line)).map((line) => line.split('  ')[1])).toEqual([
      'pending',
      'processing',
      'completed, 6 chunks',
    ]);
    expect(said.at(-1)).toBe(`  Acme > Warranty, similarity 0.36: "${answerText}"`);
    expect(asked.find(([operation]) => operation === 'PUT /put-here')?.[1]).toBe(readHandbook());
    expect(tour.notes.read('handbook')).toEqual({ uuid });
  });

  test('is left out where the same content is there from an earlier tour', async () => {
    const { tour, asked } = tourAt({ ...upload, 'GET /knowledge-base/documents': [{ documents: [document()] }] });
    await uploadHandbook.run(tour);
    expect(asked.map(([operation]) => operation)).toEqual(['GET /knowledge-base/documents', 'POST /knowledge-base/search']);
  });

  test('that fails is reported with the reason', async () => {
    const failed = document({ processing_status: 'failed', processing_error: 'The provider is down', total_chunks: 0 });
    const { tour } = tourAt({ ...upload, ...none, [path]: [failed] });
    await expect(uploadHandbook.run(tour)).rejects.toThrow('the document is failed: The provider is down');
  });

  test('is not taken for done where a search does not find what is asked', async () => {
    const answers = { ...upload, 'GET /knowledge-base/documents': [{ documents: [document()] }] };
    const { tour } = tourAt({ ...answers, 'POST /knowledge-base/search': [{ chunks: [chunk('Opening hours')] }] });
    await expect(uploadHandbook.run(tour)).rejects.toThrow('the search did not find');
  });
});

describe('asking about it', () => {
  const event = (payload: object) => ({ type: 'tool_called', payload });
  const chat = (payload: object, text = answerText) => ({
    'GET /workflow': [{ workflows: [{ id: 7, name: 'Tour: Help desk', current_definition_id: 1 }] }],
    'PUT /workflow/7': [{ id: 7, name: 'Tour: Help desk', current_definition_id: 2 }],
    'POST /workflow/7/runs': [{ id: 9, logs: { events: [{ type: 'agent_said', payload: { text: 'Hello' } }] } }],
    'POST /workflow/7/runs/9/messages': [
      {
        messages: [
          { role: 'user', text: 'How long?' },
          { role: 'assistant', text },
        ],
      },
    ],
    'POST /workflow/7/runs/9/end': [{ id: 9, logs: { events: [event(payload)] } }],
  });
  const asking = (answers: Record<string, unknown[]>) => {
    const at = tourAt(answers);
    at.tour.notes.write('handbook', { uuid });
    return at;
  };

  test('gives the agent the document, and shows the answer with its receipt', async () => {
    const { tour, said, asked } = asking(chat({ receipts: [receipt] }));
    await askHandbook.run(tour);
    expect(said).toEqual(
      expect.arrayContaining(['  Agent: Hello', '  Person: How long?', `  Agent: ${answerText}`, `  ${describeReceipt(receipt)}`]),
    );
    const [, agent] = asked.find(([operation]) => operation === 'PUT /workflow/7')!;
    expect(agent.workflow_definition.nodes[0].data.document_uuids).toEqual([uuid]);
  });

  test('that is not answered from the handbook fails with the reason', async () => {
    const failed = asking(chat({ receipts: [], reason: 'No key is set' }));
    await expect(askHandbook.run(failed.tour)).rejects.toThrow('the agent has not looked into the handbook: No key is set');
    const wrong = asking(chat({ receipts: [receipt] }, 'I cannot say.'));
    await expect(askHandbook.run(wrong.tour)).rejects.toThrow('did not tell what stands in the handbook');
  });
});
