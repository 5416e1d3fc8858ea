import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, onTestFinished, vi } from 'vitest';
import type { CampaignRpc, LiveState, RowRecord } from '../../src/campaigns/rpc.ts';
import { defaultConfigs } from '../../src/campaigns/configs/configs.ts';
import type { CampaignConfigs } from '../../src/campaigns/configs/configs.ts';
import type { AttemptOutcome } from '../../src/calls/attempt/outcomes.ts';
import type { AttemptReport, CallsRequest, Owner, RequestedCall, ReturnReason } from '../../src/calls/contract.ts';
import { organizationWithAgent } from '../support/journey-calls.ts';

export type Stub = CampaignRpc;

/** The members of an object that tests use from inside. */
export interface Inside {
  env: Env;
  clock: () => number;
  random: () => number;
  alarm(): Promise<void>;
}

export const inside = <Answer>(
  stub: Stub,
  look: (object: Inside, state: DurableObjectState) => Answer | Promise<Answer>,
): Promise<Answer> =>
  runInDurableObject(stub as unknown as DurableObjectStub, (instance, state) =>
    look(instance as unknown as Inside, state),
  ) as Promise<Answer>;

const slotsOf = new Map<string, FakeSlots>();

/** Call slots that record their requests and dial no call. */
class FakeSlots {
  readonly requests: CallsRequest[] = [];
  readonly withdrawn: number[] = [];
  readonly withdrawnKeys: string[] = [];
  /** True: calls throw. */
  isDown = false;
  /** Wraps each call. */
  watched: <T>(call: () => Promise<T>) => Promise<T> = (call) => call();
  #epoch = 0;

  async request(_organizationId: number, request: CallsRequest) {
    return this.#do(() => {
      this.requests.push(request);
      const isStale = request.epoch < this.#epoch;
      return { queued: isStale ? 0 : request.calls.length, known: 0, isStale };
    });
  }

  async withdraw(_organizationId: number, _owner: Owner, epoch: number) {
    return this.#do(() => {
      this.withdrawn.push(epoch);
      this.#epoch = Math.max(this.#epoch, epoch);
    });
  }

  async withdrawCalls(_organizationId: number, keys: string[]) {
    return this.#do(() => void this.withdrawnKeys.push(...keys));
  }

  /** How many calls are queued, and what they wait for. */
  waiting: { queued: number; waitingFor: string | null } = { queued: 3, waitingFor: 'a call slot' };

  async getOwnerStatus() {
    return this.#do(() => ({ live: 2, organizationLive: 5, limit: 10, ...this.waiting }));
  }

  #do<T>(work: () => T): Promise<T> {
    return this.watched(async () => {
      if (this.isDown) throw new Error('the slots do not answer');
      return work();
    });
  }

  /** Every requested call, in the order of its first request. */
  calls(): Map<string, RequestedCall> {
    return new Map(this.requests.flatMap(({ calls }) => calls.map((call): [string, RequestedCall] => [call.key, call])));
  }

  keys = (): string[] => [...this.calls().keys()];
}

/** Replaces the call slots of this test's organization until the test is over. */
function putInPlace(): void {
  const { CALL_SLOTS } = env;
  if (vi.isMockFunction(CALL_SLOTS.getByName)) vi.mocked(CALL_SLOTS.getByName).mockRestore();
  const real = CALL_SLOTS.getByName.bind(CALL_SLOTS);
  const spy = vi
    .spyOn(CALL_SLOTS, 'getByName')
    .mockImplementation((name) => (slotsOf.get(name) as unknown as ReturnType<typeof real> | undefined) ?? real(name));
  onTestFinished(() => spy.mockRestore());
}

export interface CampaignOptions {
  configs?: Partial<CampaignConfigs>;
  /** The text of the file. */
  csv?: string;
  timezone?: string;
}

/** A CSV of `count` people. */
export const people = (count: number): string =>
  `phone,first_name\n${Array.from({ length: count }, (_, index) => `+1212${5_550_000 + index},Person ${index + 1}`).join('\n')}\n`;

/** A draft campaign in an organization of its own, with call slots that dial no call. */
export async function draftCampaign({ configs, csv = people(3), timezone }: CampaignOptions = {}) {
  const organization = await organizationWithAgent(timezone === undefined ? {} : { timezone });
  const all = { ...defaultConfigs({ timezone: timezone ?? 'UTC', plan: { concurrentCallLimit: 100 } }), ...configs };
  const sourceId = crypto.randomUUID();
  await env.FILES.put(`campaign_sources/${organization.id}/${sourceId}`, csv);
  const row = await env.DB.prepare(
    `INSERT INTO campaign (organization_id, name, agent_id, state, source_type, source_id, source_options, max_concurrency, retry_config,
       schedule_config, circuit_breaker, created_at) VALUES (?, 'Spring', ?, 'draft', 'csv', ?, '{}', ?, ?, ?, ?, ?) RETURNING id`,
  )
    .bind(
      organization.id,
      organization.agentId,
      sourceId,
      all.max_concurrency,
      JSON.stringify(all.retry_config),
      JSON.stringify(all.schedule_config),
      JSON.stringify(all.circuit_breaker),
      Date.now(),
    )
    .first<{ id: number }>();
  const id = row!.id;
  const slots = new FakeSlots();
  slotsOf.set(String(organization.id), slots);
  putInPlace();
  const stub = () => env.CAMPAIGN.getByName(`${organization.id}/${id}`) as unknown as Stub;
  return { ...organization, organizationId: organization.id, id, slots, stub, all };
}

export type Drafted = Awaited<ReturnType<typeof draftCampaign>>;

export const newActionId = (): string => crypto.randomUUID();

/** The campaign's row in D1. */
export const rowOf = async (id: number) =>
  (await env.DB.prepare('SELECT * FROM campaign WHERE id = ?').bind(id).first<Record<string, any>>())!;

export const allRows = async (campaign: Drafted): Promise<RowRecord[]> => (await campaign.stub().reportRows(0, 100_000))!;

export const until = <T>(look: () => Promise<T>): Promise<T> => vi.waitFor(look, { timeout: 15_000, interval: 10 });

export const inState = (campaign: Drafted, state: LiveState) =>
  until(async () => {
    const live = (await campaign.stub().snapshot())!;
    expect(live.state).toBe(state);
    return live;
  });

/** A started campaign that has read its source and sent its first requests. */
export async function runningCampaign(options: CampaignOptions = {}) {
  const campaign = await draftCampaign(options);
  await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
  await inState(campaign, 'running');
  await until(async () => expect(campaign.slots.requests.length).toBeGreaterThan(0));
  return campaign;
}

let moment = 0;
/** A moment after all earlier ones. */
const at = () => (moment = Math.max(moment + 1, Date.now()));

export const dialing = (key: string, runId = 1): AttemptReport => ({ kind: 'dialing', key, at: at(), runId });
export const answered = (key: string, runId = 1): AttemptReport => ({ kind: 'answered', key, at: at(), runId });
export const ended = (
  key: string,
  outcome: AttemptOutcome,
  more: Partial<Extract<AttemptReport, { kind: 'ended' }>> = {},
): AttemptReport => ({
  kind: 'ended',
  key,
  at: at(),
  runId: 1,
  outcome,
  detail: null,
  retryAfterSeconds: null,
  ...more,
});
export const returned = (key: string, reason: ReturnReason, mayBeAskedAt: number | null = null, isSpent = false): AttemptReport => ({
  kind: 'returned',
  key,
  at: at(),
  reason,
  detail: `because of ${reason}`,
  until: mayBeAskedAt,
  isSpent,
});

/** A Monday, noon UTC, far enough ahead that no alarm fires by itself. */
export const monday = Date.UTC(2030, 0, 7, 12);

/** Stops the object's clock at a moment; its alarms then fire only by `settle`. */
export const standAt = (campaign: Drafted, now: number): Promise<void> =>
  inside(campaign.stub(), (object) => {
    object.clock = () => now;
    object.random = () => 0;
  });

/** Has the object do all work that is due by its clock. */
export const settle = (campaign: Drafted): Promise<void> =>
  inside(campaign.stub(), async (object, state) => {
    const isDue = () => state.storage.sql.exec('SELECT 1 FROM timer WHERE due <= ?', object.clock()).toArray().length > 0;
    for (let rounds = 0; isDue(); rounds += 1) {
      if (rounds === 20) throw new Error('the object does not come to rest');
      await object.alarm();
    }
  });

/** A campaign with a stopped clock that has started, read its source and sent its first requests. */
export async function standingCampaign(options: CampaignOptions = {}, now = monday) {
  const campaign = await draftCampaign(options);
  await standAt(campaign, now);
  await campaign.stub().start(campaign.organizationId, campaign.id, newActionId());
  await settle(campaign);
  return campaign;
}

/** Moves the clock, and has the object do its due work. */
export async function goTo(campaign: Drafted, now: number): Promise<void> {
  await standAt(campaign, now);
  await settle(campaign);
}

export const keyOf = (campaign: Drafted, row: number, attempt = 1): string => `campaign:${campaign.id}:${row}:${attempt}`;

export const rowAt = async (campaign: Drafted, row: number): Promise<RowRecord> => (await campaign.stub().reportRows(row - 1, 1))![0]!;

/** The error of a call that the object refuses. */
export const refusal = (action: Promise<unknown>): Promise<Error & { code?: string }> =>
  action.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => error as Error & { code?: string },
  );
