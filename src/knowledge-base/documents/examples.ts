import type { ExamplesByOperation } from '../../http/operation-examples.ts';

const uuid = '00000000-0000-4000-8000-000000000000';
const handbook = `# Acme customer handbook

## Delivery

We deliver heat pumps within 21 days after the order, accessories within three working days.

## Returns

Unopened accessories can be returned within 45 days. We pay the money back within five working days after the parcel has arrived.
`;

/** Requests that work in the order of the document. */
export const knowledgeBaseExamples: ExamplesByOperation = {
  'knowledgeBase.createUploadUrl': { body: { filename: 'handbook.md', mime_type: 'text/markdown' } },
  'knowledgeBase.upload': { path: { organization_id: '1', document_uuid: uuid }, body: handbook },
  'knowledgeBase.processDocument': {
    body: { document_uuid: uuid, storage_key: `knowledge_base/1/${uuid}/handbook.md` },
  },
  'knowledgeBase.listDocuments': { query: { search: 'handbook' } },
  'knowledgeBase.listChunks': { path: { document_uuid: uuid } },
  'knowledgeBase.search': { body: { query: 'How long can customers send an item back?', limit: 3 } },
  'knowledgeBase.reprocessDocument': { path: { document_uuid: uuid }, body: { encoding: 'utf-8' } },
  'knowledgeBase.getDocument': { path: { document_uuid: uuid } },
  'knowledgeBase.deleteDocument': { path: { document_uuid: uuid } },
};
