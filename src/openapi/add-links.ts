import { listOperations, successResponseOf, type Document } from './document-types.ts';

interface Link {
  /** The operation that answers the value, and the operation that takes it. */
  from: string;
  to: string;
  description: string;
  parameters?: Record<string, string>;
  /** Fields of the body that take a value; all others stay as in its example. */
  requestBody?: Record<string, string>;
  /** Only in a body with these values. */
  'x-when'?: Record<string, string>;
  /** The whole address of the request. */
  'x-url'?: string;
}

const document = (to: string): Link => ({
  from: 'knowledgeBase.createUploadUrl',
  to,
  description: 'The document that is made of the upload.',
  parameters: { 'path.document_uuid': '$response.body#/document_uuid' },
});

const webhookDelivery = (to: string): Link => ({
  from: 'webhookEndpoints.sendTest',
  to,
  description: 'The delivery of the test event.',
  parameters: { 'path.delivery_id': '$response.body#/id' },
});

/** The origins of values that the service draws at random, which no example can contain. */
const links: Link[] = [
  {
    from: 'auth.createSignInLink',
    to: 'auth.signInByLink',
    description: 'The token logs the same person in.',
    requestBody: { token: '$response.body#/token' },
  },
  {
    from: 'organization.delete',
    to: 'organization.getDeletion',
    description: 'How far the deletion is.',
    parameters: { 'path.deletion_id': '$response.body#/id' },
  },
  {
    from: 'members.offerReset',
    to: 'members.resetPassword',
    description: 'The token lets the member choose a new password.',
    requestBody: { token: '$response.body#/token' },
  },
  {
    from: 'invitations.create',
    to: 'invitations.preview',
    description: 'The token tells what the invitation is for.',
    requestBody: { token: '$response.body#/token' },
  },
  {
    from: 'invitations.create',
    to: 'invitations.accept',
    description: 'The token makes somebody a member.',
    requestBody: { token: '$response.body#/token' },
  },
  {
    from: 'triggers.create',
    to: 'webhooks.receive',
    description: 'A webhook trigger is delivered to under its uuid.',
    parameters: { 'path.trigger_uuid': '$response.body#/uuid' },
  },
  {
    from: 'triggers.create',
    to: 'webhooks.answerChallenge',
    description: 'A webhook trigger answers challenges under its uuid.',
    parameters: { 'path.trigger_uuid': '$response.body#/uuid' },
  },
  {
    from: 'campaigns.createUploadUrl',
    to: 'campaigns.upload',
    description: 'The signed address as a whole takes the file.',
    'x-url': '$response.body#/upload_url',
  },
  {
    from: 'campaigns.createUploadUrl',
    to: 'campaigns.create',
    description: 'The uploaded file is the source of a campaign.',
    requestBody: { source_id: '$response.body#/source_id' },
    'x-when': { source_type: 'csv' },
  },
  {
    from: 'knowledgeBase.createUploadUrl',
    to: 'knowledgeBase.upload',
    description: 'The signed address as a whole takes the file.',
    'x-url': '$response.body#/upload_url',
  },
  {
    from: 'knowledgeBase.createUploadUrl',
    to: 'knowledgeBase.processDocument',
    description: 'What was uploaded becomes a document.',
    requestBody: { document_uuid: '$response.body#/document_uuid', storage_key: '$response.body#/storage_key' },
  },
  webhookDelivery('webhookEndpoints.getDelivery'),
  webhookDelivery('webhookEndpoints.replayDelivery'),
  document('knowledgeBase.getDocument'),
  document('knowledgeBase.listChunks'),
  document('knowledgeBase.reprocessDocument'),
  document('knowledgeBase.deleteDocument'),
  {
    from: 'agentRuns.getDownloadLink',
    to: 'agentRuns.downloadArtifact',
    description: 'The signed address as a whole answers the file.',
    'x-url': '$response.body#/url',
  },
  {
    from: 'integrations.connect',
    to: 'integrations.finalize',
    description: 'Once a person has consented at `redirect_url`.',
    requestBody: { connected_account_id: '$response.body#/request_id' },
  },
];

export function addLinks(target: Document): void {
  const operations = new Map(listOperations(target).map((operation) => [operation.operationId, operation]));
  for (const { from, to, ...link } of links) {
    const response = successResponseOf(operations.get(from)!)!;
    response.links = { ...response.links, [to]: { operationId: to, ...link } };
  }
}
