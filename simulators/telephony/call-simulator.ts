import type { CallStore } from './call-store.ts';
import type { CallRecord, LineStatus } from './call-record.ts';
import { DialQueue } from './dial-queue.ts';
import { SimulatedCall } from './simulated-call.ts';
import type { Outbox } from './outbox.ts';
import { createMachine, createPerson, type SimulatedPerson } from './person.ts';
import { RelaySession, type RelayRequest, type RelayOutcome } from './relay-session.ts';
import { pickWithin, type CallSettings } from './settings.ts';

/** The vendor's part of the exchange: its wire formats. */
export interface Carrier<Order> {
  /** Sends the customer a status callback, if they asked for it. */
  report(line: SimulatedCall<Order>, status: LineStatus): void;
  /** Follows the customer's instructions for an answered call to their end. Rejects when the line goes down. */
  converse(line: SimulatedCall<Order>): Promise<void>;
  /** Lets an inbound call ring until it is answered. Rejects when the line goes down. */
  offer(line: SimulatedCall<Order>): Promise<void>;
  /** Does the work after the end of a call: recordings. */
  finish(line: SimulatedCall<Order>): void;
}

export interface Parties {
  sid: string;
  account: string;
  attemptKey: string | null;
  to: string;
  from: string;
  /** The customer's limit for the time of ringing. */
  ringLimitMs?: number | undefined;
  callLimitMs?: number | undefined;
  /** The call that is handed to this party. */
  transferOf?: string | undefined;
}

export interface CallSimulatorDependencies {
  store: CallStore;
  outbox: Outbox;
  settings: CallSettings;
  /** Aborted when the simulator stops. */
  signal: AbortSignal;
}

const sipCodes = { busy: 486, no_answer: 487, failed: 404 } as const;

/** How long a mailbox records whoever was connected with it. */
const mailboxMs = 60_000;

/** The telephone exchange of a simulated carrier: it dials, rings, answers, hangs up, and stores every call. */
export class CallSimulator<Order> {
  readonly store: CallStore;
  readonly outbox: Outbox;
  readonly settings: CallSettings;
  readonly #carrier: Carrier<Order>;
  readonly #queue = new DialQueue();
  readonly #lines = new Map<string, SimulatedCall<Order>>();
  readonly #scripts = new Map<string, string[]>();
  readonly #persons = new WeakMap<SimulatedCall<Order>, SimulatedPerson>();
  #isClosed = false;

  constructor(
    { store, outbox, settings, signal }: CallSimulatorDependencies,
    createCarrier: (exchange: CallSimulator<Order>) => Carrier<Order>,
  ) {
    this.store = store;
    this.outbox = outbox;
    this.settings = settings;
    this.#carrier = createCarrier(this);
    signal.addEventListener('abort', () => {
      this.#isClosed = true;
      for (const line of this.#lines.values()) line.close();
    });
  }

  line(sid: string): SimulatedCall<Order> | undefined {
    return this.#lines.get(sid);
  }

  lines(): SimulatedCall<Order>[] {
    return [...this.#lines.values()];
  }

  /** Sets the lines that the person of a phone number says. */
  setScript(phone: string, script: string[]): void {
    this.#scripts.set(phone, script);
  }

  /** Accepts the order to call somebody, and reports the course of the call. */
  place(parties: Parties, order: Order): SimulatedCall<Order> {
    const line = this.#open(parties, 'outbound', 'queued', order);
    this.#live(line, this.#dial(line, parties));
    return line;
  }

  /** Lets somebody call the customer. */
  ring(parties: Parties, order: Order): SimulatedCall<Order> {
    const line = this.#open(parties, 'inbound', 'ringing', order);
    const answered = async () => {
      await this.#carrier.offer(line);
      await this.#answer(line, parties);
    };
    this.#live(line, answered());
    return line;
  }

  #open(
    { sid, account, attemptKey, to, from, transferOf }: Parties,
    direction: CallRecord['direction'],
    status: LineStatus,
    order: Order,
  ): SimulatedCall<Order> {
    const record: CallRecord = {
      sid,
      account,
      attempt_key: attemptKey,
      direction,
      transfer_of: transferOf ?? null,
      is_bridged: false,
      to,
      from,
      status,
      answered_by: null,
      sip_code: null,
      ended_by: null,
      created_at: Date.now(),
      dialled_at: null,
      answered_at: null,
      ended_at: null,
      sockets: 0,
      transcript: [],
      first_token_ms: [],
      problems: [],
      recording: null,
    };
    const line = new SimulatedCall(record, order);
    this.#lines.set(sid, line);
    this.store.save(record);
    return line;
  }

  /** Runs the line from its beginning to its end. */
  #live(line: SimulatedCall<Order>, life: Promise<void>): void {
    life.catch((error: Error) => {
      if (!line.isLive || this.#isClosed) return;
      line.record.problems.push(`The simulator failed: ${error.message}`);
      console.error('A simulated call failed:', error);
      this.end(line, 'failed', 'carrier', 500);
    });
  }

  async #dial(line: SimulatedCall<Order>, parties: Parties): Promise<void> {
    const { record, scenario } = line;
    const { calls_per_second: callsPerSecond, ring_ms: ring } = this.settings;
    await line.sleep(this.#queue.wait(record.account, callsPerSecond, Date.now()));
    record.dialled_at = Date.now();
    this.#change(line, 'initiated');
    const ringMs = pickWithin(ring, record.to);
    const isPickedUp = scenario.result === 'person' || scenario.result === 'machine';
    const limitMs = parties.ringLimitMs ?? Infinity;
    const waitMs = Math.min(ringMs, limitMs);
    await line.sleep(waitMs / 4);
    // A number that does not exist never rings.
    if (scenario.result !== 'failed') this.#change(line, 'ringing');
    await line.sleep((waitMs * 3) / 4);
    if (isPickedUp && ringMs <= limitMs) return this.#answer(line, parties);
    const result = isPickedUp ? 'no_answer' : (scenario.result as keyof typeof sipCodes);
    this.end(line, result, 'carrier', sipCodes[result]);
  }

  async #answer(line: SimulatedCall<Order>, { callLimitMs }: Parties): Promise<void> {
    line.record.answered_at = Date.now();
    line.record.answered_by = line.scenario.result === 'machine' ? 'machine' : 'person';
    this.#change(line, 'answered');
    const limit = callLimitMs === undefined ? undefined : setTimeout(() => this.end(line, 'completed', 'carrier'), callLimitMs).unref();
    try {
      await this.#carrier.converse(line);
    } finally {
      clearTimeout(limit);
    }
    this.end(line, 'completed', 'service');
  }

  #change(line: SimulatedCall<Order>, status: LineStatus): void {
    line.record.status = status;
    this.store.save(line.record);
    this.#carrier.report(line, status);
  }

  /** Ends a live line; a line ends once. */
  end(line: SimulatedCall<Order>, status: LineStatus, by: NonNullable<CallRecord['ended_by']>, sipCode: number | null = null): void {
    if (!line.isLive || this.#isClosed) return;
    Object.assign(line.record, { ended_at: Date.now(), ended_by: by, sip_code: sipCode });
    line.close();
    this.#change(line, status);
    this.#carrier.finish(line);
  }

  /** Connects a human with the caller, until one of them hangs up or the human has talked for as long as the settings say. Rejects when the human's line goes down. */
  async bridge(caller: SimulatedCall<Order>, human: SimulatedCall<Order>): Promise<void> {
    human.record.is_bridged = true;
    this.store.save(human.record);
    const leave = () => this.end(human, 'completed', 'carrier');
    caller.signal.addEventListener('abort', leave, { once: true });
    if (!caller.isLive) return leave();
    await human.sleep(human.scenario.result === 'machine' ? mailboxMs : pickWithin(this.settings.human_ms, human.record.to));
    this.hangUp(human, 'person');
  }

  /** Hangs up, for the customer's API or for the person. */
  hangUp(line: SimulatedCall<Order>, by: 'person' | 'service'): void {
    this.end(line, line.record.answered_at === null ? 'cancelled' : 'completed', by);
  }

  /** Talks over a relay socket until the session is over. When the person hangs up, so does the line. */
  async relay(line: SimulatedCall<Order>, order: RelayRequest): Promise<RelayOutcome> {
    const { record } = line;
    const { callbacks, turn_ms: turn, patience_ms: patienceMs } = this.settings;
    if (callbacks === 'hold') return this.#holdSession(line, order);
    const session = new RelaySession(
      order,
      this.#personOf(line),
      { turnMs: pickWithin(turn, record.to), maxSilenceMs: patienceMs },
      {
        opened: () => {
          record.sockets += 1;
          this.store.save(record);
        },
        spoken: (speaker, text) => void record.transcript.push({ speaker, text }),
        answered: (firstTokenMs) => void record.first_token_ms.push(Math.round(firstTokenMs * 10) / 10),
        problem: (text) => void record.problems.push(text),
      },
    );
    line.session = session;
    const outcome = await session.outcome;
    line.session = undefined;
    return outcome;
  }

  /** A test fetches the due socket, opens it and talks. Its answer is the outcome. */
  async #holdSession({ record, signal }: SimulatedCall<Order>, { url, headers, setup }: RelayRequest): Promise<RelayOutcome> {
    const down = new Promise<RelayOutcome>((resolve) =>
      signal.addEventListener('abort', () => resolve({ reason: 'hung_up' }), { once: true }),
    );
    const { account, sid } = record;
    const asked = this.outbox.ask({
      event: 'socket',
      account,
      sid,
      method: 'GET',
      url,
      body: JSON.stringify(setup),
      headers: () => headers,
    });
    const outcome = asked.then((answer): RelayOutcome =>
      'body' in answer ? (JSON.parse(answer.body) as RelayOutcome) : { reason: 'hung_up' },
    );
    return Promise.race([down, outcome]);
  }

  /** The person of a call. All sessions have the same one, so that nobody says yes again after a lost socket. */
  #personOf(line: SimulatedCall<Order>): SimulatedPerson {
    const known = this.#persons.get(line);
    if (known) return known;
    const { scenario, record } = line;
    const script = this.#scripts.get(record.direction === 'outbound' ? record.to : record.from) ?? [];
    const person = scenario.result === 'machine' ? createMachine(line.machineUtterances) : createPerson({ ...scenario, script });
    this.#persons.set(line, person);
    return person;
  }
}
