import { env, exports } from 'cloudflare:workers';
import { randomToken } from '../../src/library/security/hash.ts';
import { newOrganization, type NewOrganization } from './organization.ts';

export const simulatorsUrl = (env as unknown as { SIMULATORS_URL: string }).SIMULATORS_URL;

/** A small agent that greets and says goodbye. */
const shortDefinition = {
  nodes: [
    {
      id: 'start',
      type: 'startCall',
      position: { x: 0, y: 0 },
      data: { name: 'Greeting', prompt: 'Ask.', greeting: 'Hello, are you interested?' },
    },
    { id: 'bye', type: 'endCall', position: { x: 0, y: 200 }, data: { name: 'Goodbye', prompt: 'Say goodbye.' } },
  ],
  edges: [{ id: 'e1', source: 'start', target: 'bye', data: { label: 'done', condition: 'the person has answered' } }],
};

export interface CallingOrganization extends NewOrganization {
  concurrentCalls?: number;
  callsPerSecond?: number;
  fromNumbers?: string[];
  machineDetection?: boolean;
  authToken?: string;
  inbound?: boolean;
}

/** An organization with an agent and a Twilio account of its own at the simulated carrier. */
export async function callingOrganization(options: CallingOrganization = {}) {
  const organization = await newOrganization(options);
  if (options.concurrentCalls !== undefined)
    await env.DB.prepare('UPDATE organization SET plan_concurrent_calls = ? WHERE id = ?')
      .bind(options.concurrentCalls, organization.id)
      .run();
  const agent = await organization.client.post('/workflow/create/definition', { name: 'Caller', workflow_definition: shortDefinition });
  if (agent.status !== 200) throw new Error(`no agent: ${agent.status} ${JSON.stringify(agent.body)}`);
  const account = `AC${randomToken(64)
    .replace(/[^a-z0-9]/gi, '')
    .toLowerCase()
    .replace(/[^0-9a-f]/g, '0')
    .slice(0, 32)
    .padEnd(32, '0')}`;
  const config = await organization.client.post('/organizations/telephony-configs', {
    name: 'Carrier',
    provider: 'twilio',
    twilio: { account_sid: account, auth_token: options.authToken ?? 'a-token-of-the-test' },
    from_numbers: options.fromNumbers ?? ['+15005550006'],
    calls_per_second: options.callsPerSecond ?? 1000,
    machine_detection: options.machineDetection ?? true,
    ...(options.inbound && { inbound_workflow_id: agent.body.id }),
  });
  if (config.status !== 200) throw new Error(`no configuration: ${config.status} ${JSON.stringify(config.body)}`);
  return { ...organization, agentId: agent.body.id as number, configId: config.body.id as number, account };
}

export interface LedgerCall {
  sid: string;
  to: string;
  from: string;
  attempt_key: string | null;
  status: string;
}

/** The calls that an account ordered at the simulated carrier. */
export async function carrierLedger(
  account: string,
): Promise<{ calls: LedgerCall[]; peak_concurrent: number; attempts_dialled_twice: string[] }> {
  return (await fetch(`${simulatorsUrl}/twilio/__sim/ledger?account=${account}`)).json();
}

interface DueCallback {
  id: string;
  event: string;
  method: string;
  url: string;
  body: string;
  headers: Record<string, string>;
}

/** Requests that the carrier holds back for an account, waiting up to `waitMs` for the first. */
export async function dueCallbacks(account: string, waitMs = 0): Promise<DueCallback[]> {
  const answer = await fetch(`${simulatorsUrl}/twilio/__sim/due?account=${account}&wait_ms=${waitMs}`);
  return ((await answer.json()) as { due: DueCallback[] }).due;
}

export const deliverCallback = (due: DueCallback, changes: Partial<DueCallback> = {}): Promise<Response> => {
  const { url, method, headers, body } = { ...due, ...changes };
  return exports.default.fetch(new Request(url, { method, headers, body }));
};

/** A relay session that ends before anybody has said a word. */
const immediateSocketEnd = { status: 101, body: JSON.stringify({ reason: 'ended' }) };
const toSettlement = async (answer: Response) => ({ status: answer.status, body: await answer.text() });

/** Gives the carrier's requests to the Worker, and its answers back to the carrier, until `isOver` says so. */
export async function relayCallbacks(account: string, isOver: () => Promise<boolean>, timeoutMs = 15_000): Promise<void> {
  const until = Date.now() + timeoutMs;
  while (!(await isOver())) {
    if (Date.now() > until) throw new Error('the calls did not end in time');
    for (const due of await dueCallbacks(account, 100)) {
      const settled = due.event === 'socket' ? immediateSocketEnd : await deliverCallback(due).then(toSettlement);
      await fetch(`${simulatorsUrl}/twilio/__sim/due/${due.id}`, { method: 'POST', body: JSON.stringify(settled) });
    }
  }
}
