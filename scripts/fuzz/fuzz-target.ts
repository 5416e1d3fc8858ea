import { findOperation } from './operations.ts';
import { toJsonText } from './hostile-values.ts';
import { send } from './send-request.ts';

/** Ids by the names that paths and bodies have for them. */
export type KnownIds = Record<string, string | number>;

/** An organization with records of each kind, so that requests get beyond the first look-up. */
export interface FuzzTarget {
  key: string;
  /** Of a session; empty where the key was given. */
  token: string;
  known: KnownIds;
  secrets: string[];
}

interface Step {
  operation: string;
  /** Path and query; absent: the operation's, filled. */
  at?: (known: KnownIds) => string;
  /** Which of its examples; default 0. */
  example?: number;
  /** Fields that replace those of the example. */
  change?: (known: KnownIds) => object;
  /** Ids from the answer. */
  learn?: (answer: any) => KnownIds;
  /** Where a person would go next, as the simulated broker asks for consent. */
  visit?: (answer: any) => unknown;
}

/** An account at the simulated broker, agreed to. */
const connected = (example: number, name: string): Step[] => [
  {
    operation: 'integrations.connect',
    example,
    learn: ({ request_id }) => ({ request_id }),
    visit: ({ redirect_url }) => redirect_url,
  },
  {
    operation: 'integrations.finalize',
    example,
    change: ({ request_id }) => ({ connected_account_id: request_id }),
    learn: ({ id }) => ({ [name]: id }),
  },
];

/** Names that mean different records in different paths carry the first part of the path. */
const steps: Step[] = [
  { operation: 'contacts.create', learn: ({ id }) => ({ contact_id: id }) },
  { operation: 'contactLists.create', learn: ({ id }) => ({ list_id: id }) },
  { operation: 'contactLists.addContacts' },
  { operation: 'suppressions.create', learn: ({ id }) => ({ suppression_id: id }) },
  { operation: 'journeys.create', learn: ({ id }) => ({ 'automation-workflows/workflow_id': id }) },
  { operation: 'triggers.create', learn: ({ webhook_url }) => createUuid(webhook_url) },
  { operation: 'triggers.create', example: 1, learn: ({ id }) => ({ trigger_id: id }) },
  { operation: 'journeys.update' },
  { operation: 'journeys.test', learn: ({ id }) => ({ 'automation-workflows/run_id': id }) },
  { operation: 'events.create', learn: ({ event_id }) => ({ event_id }) },
  { operation: 'journeyRuns.move', learn: ({ id }) => ({ move_id: id, stuck_id: `journey:${String(id)}` }) },
  { operation: 'webhooks.receive', learn: ({ delivery_id }) => ({ delivery_id }) },
  {
    operation: 'agents.create',
    learn: ({ id, current_definition_id }) => ({
      'workflow/workflow_id': id,
      actor_workflow_id: id,
      version_id: current_definition_id,
      definition_id: current_definition_id,
    }),
  },
  { operation: 'agents.create', example: 1, learn: ({ id }) => ({ adversary_workflow_id: id }) },
  { operation: 'languageModels.create', learn: ({ id }) => ({ language_model_id: id }) },
  { operation: 'telephonyConfigs.create', learn: ({ id }) => ({ config_id: id }) },
  { operation: 'agentRuns.create', example: 1, learn: ({ id, run_id }) => ({ 'workflow/run_id': id ?? run_id }) },
  { operation: 'campaigns.createUploadUrl', learn: ({ upload_url, source_id }) => ({ ...signedPart(upload_url), source_id }) },
  { operation: 'campaigns.create', example: 1, learn: ({ id }) => ({ campaign_id: id }) },
  {
    operation: 'knowledgeBase.createUploadUrl',
    learn: ({ upload_url, document_uuid, storage_key }) => ({
      ...signedPart(upload_url, 'kb_'),
      document_uuid,
      storage_key,
      kb_upload: readPart(upload_url),
    }),
  },
  { operation: 'knowledgeBase.upload', at: ({ kb_upload }) => String(kb_upload) },
  {
    operation: 'knowledgeBase.processDocument',
    change: ({ document_uuid, storage_key }) => ({ document_uuid, storage_key }),
  },
  { operation: 'testSessions.create', learn: ({ id }) => ({ test_session_id: id }) },
  { operation: 'loadTests.create', learn: ({ id, load_test_group_id }) => ({ load_test_group_id: load_test_group_id ?? id }) },
  ...connected(0, 'integration_id'),
  ...connected(1, 'tracker/integration_id'),
  ...connected(2, 'books/integration_id'),
  ...connected(3, 'sheet/integration_id'),
  { operation: 'messaging.updateConfig' },
  { operation: 'invitations.create', learn: ({ id }) => ({ invitation_id: id }) },
];

const createUuid = (address: unknown): KnownIds => (typeof address === 'string' ? { trigger_uuid: address.split('/').at(-1)! } : {});

function readPart(address: unknown): string {
  const { pathname, search } = new URL(String(address), 'http://none.invalid');
  return pathname + search;
}

function signedPart(address: unknown, before = ''): KnownIds {
  if (typeof address !== 'string' || !URL.canParse(address)) return {};
  const { pathname, searchParams } = new URL(address);
  const query = Object.fromEntries([...searchParams].map(([name, value]) => [`${before}${name}`, value]));
  return { ...query, organization_id: pathname.split('/').at(-2)! };
}

/** A new organization with a key of its own, or the one whose key is given. */
export async function createFuzzTarget(origin: URL, name: string, givenKey?: string): Promise<FuzzTarget> {
  const world = givenKey === undefined ? await signUp(origin, name) : { key: givenKey, token: '', known: {}, secrets: [givenKey] };
  for (const { operation, at, example = 0, change, learn, visit } of steps) {
    const { method, path, bodies, contentType } = findOperation(operation);
    const body = bodies[example] ?? bodies[0];
    const answer = await callApi(origin, {
      method,
      path: at?.(world.known) ?? fillPath(path, world.known),
      body: typeof body === 'object' ? { ...(insertKnownIds(body, world.known) as object), ...change?.(world.known) } : body,
      contentType,
      key: world.key,
    });
    if (answer.status >= 300) continue;
    Object.assign(world.known, clean(learn?.(answer.body) ?? {}));
    await agree(visit?.(answer.body));
  }
  return world;
}

/** Consents where a simulated broker asks; at a real one, that is a person's to do. */
async function agree(address: unknown): Promise<void> {
  if (typeof address !== 'string' || new URL(address).hostname !== '127.0.0.1') return;
  const url = new URL(address);
  url.searchParams.set('decision', 'approve');
  await fetch(url, { redirect: 'manual' });
}

const clean = (known: KnownIds): KnownIds =>
  Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined && value !== null));

async function signUp(origin: URL, name: string): Promise<FuzzTarget> {
  const password = `hostile-${crypto.randomUUID()}`;
  const email = `hostile-${crypto.randomUUID()}@example.com`;
  const session = await callApi(origin, {
    method: 'POST',
    path: '/api/v1/auth/signup',
    body: { email, password, organization_name: name },
    contentType: 'application/json',
  });
  if (session.status !== 200) throw new Error(`Sign-up was answered with ${session.status} ${JSON.stringify(session.body)}`);
  const { token, user, organization } = session.body;
  const minted = await callApi(origin, {
    method: 'POST',
    path: '/api/v1/user/api-keys',
    body: { name },
    contentType: 'application/json',
    token,
  });
  if (minted.status !== 200) throw new Error(`A key was answered with ${minted.status} ${JSON.stringify(minted.body)}`);
  const known = { user_id: user.id, 'auth/organization_id': organization.id, organization_id: organization.id, id: minted.body.id };
  return { key: minted.body.api_key, token, known, secrets: [minted.body.api_key, token, password] };
}

interface Call {
  method: string;
  path: string;
  body?: unknown;
  contentType: string;
  key?: string;
  token?: string;
}

/** Repeats the request while the answer is a 429, at most 20 times. */
export async function callApi(origin: URL, { method, path, body, contentType, key, token }: Call): Promise<{ status: number; body: any }> {
  const headers: [string, string][] = [
    ...(key === undefined ? [] : [['X-API-Key', key] as [string, string]]),
    ...(token === undefined ? [] : [['Authorization', `Bearer ${token}`] as [string, string]]),
    ...(body === undefined ? [] : [['Content-Type', contentType] as [string, string]]),
  ];
  for (let tries = 1; ; tries++) {
    const answer = await send(origin, { method, target: path, headers, body: body === undefined ? null : Buffer.from(bodyText(body)) });
    if ('silence' in answer) throw new Error(`${method} ${path} has no answer: ${answer.silence}`);
    if (answer.status !== 429 || tries === 20) return { status: answer.status, body: parsed(answer.body) };
    await new Promise((resolve) => setTimeout(resolve, Math.min(Number(answer.headers['retry-after'] ?? 1), 60) * 1000));
  }
}

export const bodyText = (body: unknown): string => (typeof body === 'string' ? body : toJsonText(body));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The record that a placeholder means in a path: `run_id` is a journey's run within /automation-workflows/, and a call elsewhere. */
export const findKnownId = (path: string, name: string, known: KnownIds): string | number | undefined =>
  Object.entries(known).find(([one]) => one.endsWith(`/${name}`) && path.includes(`/${one.slice(0, -name.length)}`))?.[1] ?? known[name];

const fillPath = (path: string, known: KnownIds): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(findKnownId(path, name, known) ?? defaults[name] ?? 1)));

/** Placeholders with a fixed set of values. */
const defaults: KnownIds = { provider: 'chatapp', artifact: 'recording' };

const idFields: Record<string, string> = {
  contact_id: 'contact_id',
  list_id: 'list_id',
  workflow_id: 'workflow/workflow_id',
  actor_workflow_id: 'actor_workflow_id',
  adversary_workflow_id: 'adversary_workflow_id',
  document_uuid: 'document_uuid',
  definition_id: 'definition_id',
  telephony_config_id: 'config_id',
};

/** An example body of the document with ids of existing records. */
export function insertKnownIds(body: unknown, known: KnownIds): unknown {
  if (Array.isArray(body)) return body.map((one) => insertKnownIds(one, known));
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (name === 'source_id' && 'source_type' in body)
        return [name, String(known[body.source_type === 'contact_list' ? 'list_id' : 'source_id'] ?? value)];
      if (name === 'contact_ids' && known['contact_id'] !== undefined) return [name, [known['contact_id']]];
      const id = idFields[name] === undefined ? undefined : known[idFields[name]];
      return [name, id !== undefined && (typeof value === 'number' || typeof value === 'string') ? id : insertKnownIds(value, known)];
    }),
  );
}
