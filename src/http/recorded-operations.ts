import type { Context as HonoContext } from 'hono';
import { actAs, type Actor } from '../database/audit/actor.ts';
import { systemClock } from '../library/time/clock.ts';
import type { HttpEnvironment } from './environment.ts';

/** Operations that change something and have no entry in the audit log, with the reason. Every other one that is no GET has one. */
export const unrecordedOperations: Readonly<Record<string, string>> = {
  'auth.selectOrganization': 'changes the session alone',
  'auth.createSignInLink': 'changes nothing until it is used',
  'auth.logOut': 'ends the session alone',
  'auth.logOutEverywhere': 'ends sessions of the person alone',
  'auth.endSession': 'ends a session of the person alone',
  'auth.changePassword': 'changes the account of the person, not the organization',
  'passkeys.start': 'changes nothing',
  'passkeys.add': 'changes the account of the person, not the organization',
  'passkeys.delete': 'the same',
  'contacts.create': 'contacts come from other systems, and show when they were changed',
  'contacts.upsert': 'the same',
  'contacts.update': 'the same',
  'contactLists.addContacts': 'the same',
  'contactLists.removeContact': 'the same',
  'contactPolicy.recordConsent': 'a consent is its own record, with who noted it',
  'events.create': 'an event is its own record',
  'events.retry': 'works on a record that stays what it was',
  'triggers.retryDelivery': 'the same',
  'triggers.fire': 'a run is its own record',
  'journeys.execute': 'the same',
  'journeys.test': 'the same',
  'journeys.validate': 'changes nothing',
  'journeyRuns.stop': 'a run has its own history',
  'journeyRuns.retry': 'the same',
  'languageModels.test': 'changes nothing',
  'agents.validate': 'changes nothing',
  'agents.verify': 'a test is its own record',
  'agentRuns.create': 'a call is its own record',
  'agentRuns.sendMessage': 'the same',
  'agentRuns.end': 'the same',
  'campaigns.preview': 'changes nothing',
  'campaigns.createUploadUrl': 'the campaign that uses the file has an entry',
  'knowledgeBase.createUploadUrl': 'the document has an entry',
  'knowledgeBase.search': 'changes nothing',
  'testSessions.create': 'a test is its own record',
  'testSessions.start': 'the same',
  'testSessions.stop': 'the same',
  'loadTests.create': 'the same',
  'loadTests.stop': 'the same',
  'integrations.pushContact': 'contacts show when they were changed',
  'webhookEndpoints.sendTest': 'a delivery is its own record',
  'webhookEndpoints.replayDelivery': 'the same',
  'webhookEndpoints.replay': 'the same',
  'messaging.sendTest': 'a message is its own record',
};

/** Operations that may change thousands of records, and have one entry all the same; and one about a table that no trigger watches. */
const summarizedOperations = new Set(['contacts.bulkUpsert', 'contacts.delete', 'suppressions.import', 'members.endSessions']);

/** What the operations of a group are about, for entries that stand for a whole request. */
const recordTypes: Readonly<Record<string, string>> = {
  contacts: 'contact',
  contactLists: 'contact_list',
  suppressions: 'suppression',
  contactPolicy: 'contact_policy',
  journeys: 'automation_workflow',
  triggers: 'automation_trigger',
  journeyRuns: 'run_move',
  operations: 'stuck_record',
  languageModels: 'language_model',
  telephonyConfigs: 'telephony_config',
  agents: 'workflow',
  campaigns: 'campaign',
  knowledgeBase: 'document',
  integrations: 'integration',
  webhookEndpoints: 'webhook_endpoint',
  messaging: 'messaging_config',
  members: 'member',
  invitations: 'invitation',
  apiKeys: 'api_key',
};

interface Operation {
  method: string;
  path: string;
  operationId?: string | undefined;
  security?: readonly unknown[] | undefined;
}

export const isRecorded = ({ method, operationId, security }: Operation): boolean =>
  method !== 'get' && security?.length !== 0 && operationId !== undefined && !(operationId in unrecordedOperations);

type Handler = (c: HonoContext<HttpEnvironment>, next: () => Promise<void>) => unknown;

/** The handler of an operation, which acts in the name of its caller where the audit log records the operation. */
export function recorded(operation: Operation, handler: Handler): Handler {
  if (!isRecorded(operation)) return handler;
  // The last one names the record itself; those before it name what the record belongs to.
  const parameter = [...operation.path.matchAll(/\{(\w+)\}/g)].at(-1)?.[1];
  return (c, next) => actAs(toActor(c, operation.operationId!, parameter), () => handler(c, next));
}

function toActor(c: HonoContext<HttpEnvironment>, action: string, parameter: string | undefined): Actor | undefined {
  const caller = c.get('caller') as HttpEnvironment['Variables']['caller'] | undefined;
  if (!caller) return undefined;
  return {
    organizationId: c.get('context')?.organization.id ?? null,
    requestId: crypto.randomUUID(),
    action,
    userId: caller.userId,
    credential: caller.credential,
    address: c.req.header('cf-connecting-ip') ?? null,
    at: systemClock(),
    record: { type: recordTypes[action.split('.')[0]!] ?? 'organization', id: (parameter && c.req.param(parameter)) ?? null },
    isSummary: summarizedOperations.has(action),
  };
}
