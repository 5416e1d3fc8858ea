import { carriers } from '../providers/telephony/registry.ts';

const carrierNames = Object.values(carriers)
  .map(({ name }) => name)
  .join(', ');

interface Group {
  /** The title of the group for people. */
  title: string;
  description: string;
  /** The second part of each operationId, in the order of the document: an operation that creates a record stands before those that need the record. */
  operations: string[];
}

/**
 * The operations as the document shows them. A group is a tag and the first part of an operationId. A newcomer needs the groups in this
 * order. The methods of one path stay together, at the place of the first of them.
 */
export const groups: Record<string, Group> = {
  health: { title: 'Health', description: 'Whether the service is up.', operations: ['get'] },
  auth: {
    title: 'Sign-in',
    description: 'Users, their sessions, and the organization that a session works in. Programs use an API key instead.',
    operations: [
      'signUp',
      'logIn',
      'me',
      'createOrganization',
      'selectOrganization',
      'createSignInLink',
      'signInByLink',
      'logOut',
      'changePassword',
      'forgotPassword',
      'deleteAccount',
      'listSessions',
      'endSession',
      'logOutEverywhere',
    ],
  },
  passkeys: {
    title: 'Passkeys',
    description: 'Keys in the devices of a person, by which they log in without a password (WebAuthn).',
    operations: ['start', 'add', 'list', 'delete', 'startLogIn', 'logIn'],
  },
  organization: {
    title: 'Organization',
    description: 'The organization of the caller: name, country, time zone, plan.',
    operations: ['get', 'update', 'delete', 'getDeletion'],
  },
  members: {
    title: 'Members',
    description: 'The people of the organization and their roles.',
    operations: ['list', 'changeRole', 'remove', 'endSessions', 'offerReset', 'resetPassword', 'transferOwnership', 'leave'],
  },
  invitations: {
    title: 'Invitations',
    description: 'Links by which people become members, each once.',
    operations: ['create', 'list', 'revoke', 'preview', 'accept', 'join'],
  },
  auditLog: {
    title: 'Audit log',
    description: 'Who changed what in the organization, when, from where and by which key or session.',
    operations: ['list', 'export'],
  },
  apiKeys: {
    title: 'API keys',
    description:
      'Keys for programs, sent as `X-API-Key`. The scope of a key is `read`, `operate`, `write` or `admin`, never more than the person who makes it has.',
    operations: ['create', 'list', 'revoke', 'reactivate'],
  },
  contacts: {
    title: 'Contacts',
    description: 'People, known by phone number or external id. Two spellings of one number are one contact.',
    operations: [
      'create',
      'list',
      'upsert',
      'bulkUpsert',
      'listFieldKeys',
      'get',
      'update',
      'delete',
      'listLists',
      'listEvents',
      'listCalls',
      'getTimeline',
    ],
  },
  contactLists: {
    title: 'Contact lists',
    description: 'Named lists of contacts. A contact is on any number of them.',
    operations: ['create', 'list', 'get', 'update', 'delete', 'listContacts', 'addContacts', 'removeContact'],
  },
  contactPolicy: {
    title: 'Contact policy',
    description: 'How often, when and with whose consent a person is contacted, by all campaigns, journeys and single calls together.',
    operations: ['replace', 'get', 'recordConsent', 'listConsents'],
  },
  suppressions: {
    title: 'Suppressions',
    description: 'Phone numbers that must not be called, asked before each call.',
    operations: [
      'create',
      'list',
      'import',
      'export',
      'restore',
      'listProposals',
      'confirmProposal',
      'dismissProposal',
      'deleteByPhone',
      'delete',
    ],
  },
  journeys: {
    title: 'Journeys',
    description:
      'Automation workflows: graphs of nodes that decide what happens to a contact, and when. Only an active journey starts runs.',
    operations: ['create', 'list', 'listNodeTypes', 'get', 'update', 'archive', 'listVersions', 'validate', 'test', 'execute', 'explain'],
  },
  triggers: {
    title: 'Triggers of journeys',
    description: 'What starts runs of a journey: events, webhooks, schedules, changes of contacts, a person.',
    operations: ['create', 'list', 'update', 'archive', 'describe', 'fire', 'listDeliveries', 'getDelivery', 'retryDelivery'],
  },
  webhooks: {
    title: 'Webhooks',
    description: 'Where other systems deliver to webhook triggers. Open without credentials: each trigger verifies its sender.',
    operations: ['receive', 'answerChallenge'],
  },
  events: {
    title: 'Events',
    description: 'What happened to a contact elsewhere. Journeys follow each event exactly once.',
    operations: ['create', 'list', 'get', 'retry'],
  },
  journeyRuns: {
    title: 'Runs of journeys',
    description: 'One contact on its way through a journey, step by step.',
    operations: ['list', 'listOfJourney', 'get', 'getHistory', 'stop', 'retry', 'previewMove', 'move', 'listMoves', 'getMove'],
  },
  languageModels: {
    title: 'Language models',
    description: 'Models under keys of your own: which one talks, extracts and judges, and which one stands in when it fails.',
    operations: ['create', 'list', 'get', 'update', 'test', 'delete'],
  },
  telephonyConfigs: {
    title: 'Telephony configurations',
    description: `Carrier accounts (${carrierNames}) and the numbers that calls come from.`,
    operations: ['create', 'list', 'get', 'update', 'delete'],
  },
  agents: {
    title: 'Voice agents',
    description: 'Graphs of prompts by which an agent talks.',
    operations: [
      'create',
      'list',
      'get',
      'update',
      'setStatus',
      'validate',
      'verify',
      'listVersions',
      'getVersion',
      'diffVersions',
      'restoreVersion',
    ],
  },
  agentRuns: {
    title: 'Calls and chats',
    description: 'Talks of a voice agent with a person, on the telephone or in text, with transcript and recording.',
    operations: ['create', 'list', 'sendMessage', 'end', 'get', 'getTranscript', 'getRecording', 'getDownloadLink', 'downloadArtifact'],
  },
  calls: {
    title: 'Calls of the organization',
    description:
      'All telephone calls with what came of them, whether a person, a journey or a campaign asked for them: to look through, and as files.',
    operations: ['list', 'export'],
  },
  statistics: {
    title: 'Statistics',
    description:
      'Counts that are kept with each call, run, message and document, so that reading them costs the same however many there are.',
    operations: ['calls', 'journey', 'knowledge', 'usage'],
  },
  operations: {
    title: 'Operations',
    description: 'What stands still in the organization and why, each with what tries it again. For admins.',
    operations: ['listStuck', 'retryStuck'],
  },
  campaigns: {
    title: 'Campaigns',
    description: 'A voice agent calls everybody in a file, a contact list or a sheet.',
    operations: [
      'createUploadUrl',
      'upload',
      'preview',
      'create',
      'list',
      'get',
      'update',
      'start',
      'pause',
      'resume',
      'getProgress',
      'listRows',
      'getReport',
      'redial',
      'cancel',
    ],
  },
  knowledgeBase: {
    title: 'Knowledge base',
    description: 'Documents that agents and journeys answer from, and the search in them.',
    operations: [
      'createUploadUrl',
      'upload',
      'processDocument',
      'listDocuments',
      'listChunks',
      'search',
      'reprocessDocument',
      'getDocument',
      'deleteDocument',
    ],
  },
  testSessions: {
    title: 'Conversation tests',
    description: 'One voice agent talks to another, and what was said is judged.',
    operations: ['create', 'list', 'start', 'listActive', 'get', 'getConversation', 'stop'],
  },
  loadTests: {
    title: 'Load tests',
    description: 'Many conversation tests of the same two agents at once.',
    operations: ['create', 'list', 'getStatistics', 'stop'],
  },
  integrations: {
    title: 'Integrations',
    description: "Connections to an organization's tools: chat, issue tracker, calendar, books, sheets.",
    operations: [
      'connect',
      'finalize',
      'list',
      'getStatus',
      'listChannels',
      'listProjects',
      'listIssueTypes',
      'update',
      'listBooksOrganizations',
      'selectBooksOrganization',
      'searchSheets',
      'previewSheet',
      'selectSheet',
      'getFieldMapping',
      'replaceFieldMapping',
      'resync',
      'pushContact',
      'disconnect',
    ],
  },
  webhookEndpoints: {
    title: 'Webhook endpoints',
    description:
      'Addresses of your own that are told what ends or breaks, signed as Standard Webhooks. `webhooks` of this document describes each event.',
    operations: [
      'create',
      'list',
      'get',
      'update',
      'rotateSecret',
      'pause',
      'resume',
      'sendTest',
      'listDeliveries',
      'getDelivery',
      'replayDelivery',
      'replay',
      'delete',
    ],
  },
  messaging: {
    title: 'Messaging',
    description: 'The WhatsApp provider of the organization, its templates, and what became of each message.',
    operations: ['updateConfig', 'getConfig', 'listTemplates', 'sendTest', 'listMessages'],
  },
};

/** Every operationId in the order of the document. */
export const operationIds: string[] = Object.entries(groups).flatMap(([group, { operations }]) =>
  operations.map((operation) => `${group}.${operation}`),
);
