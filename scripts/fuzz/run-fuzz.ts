import { buildRequest, type BuiltRequest, type FuzzContext } from './build-request.ts';
import { createRandomSource } from './random-source.ts';
import { findFaults, isFromRuntime, slowMs } from './find-faults.ts';
import { SharedExclusiveLimiter } from './shared-exclusive-limiter.ts';
import { send, type WireAnswer, type WireResult } from './send-request.ts';
import { callApi, createFuzzTarget, type FuzzTarget } from './fuzz-target.ts';

export interface FuzzOptions {
  origin: URL;
  requests: number;
  seed: number;
  lanes: number;
  /** The number of the only request to send; absent: all. */
  only?: number | undefined;
  /** Of the one organization that is attacked; absent: new ones are signed up. */
  key?: string | undefined;
  onProgress: (done: number) => void;
  onFinding: (finding: Finding) => void;
}

export interface Finding {
  /** The number with which the request is sent again. */
  number: number;
  fault: string;
  request: string;
  answer: string;
}

export interface FuzzOutcome {
  requests: number;
  findings: Finding[];
  slowest: { number: number; request: string; ms: number };
  /** Answers that were slow once, and fast when the request was repeated alone. */
  slowOnce: number;
  statuses: Record<string, number>;
  /** Operations that did what they are for, at least once: the others were attacked at the door alone. */
  reached: Set<string>;
}

/** A lane changes its organization after so many requests, since they delete its records. */
const requestsPerTarget = 250;

/** Sends the requests of a seed. Throws where the service cannot be attacked at all. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzOutcome> {
  const outcome: FuzzOutcome = {
    requests: 0,
    findings: [],
    slowest: { number: -1, request: '', ms: 0 },
    slowOnce: 0,
    statuses: {},
    reached: new Set(),
  };
  const stranger = await createFuzzTarget(options.origin, 'Stranger', options.key);
  const lanes = new SharedExclusiveLimiter(options.lanes);
  const numbers = options.only === undefined ? Array.from({ length: options.requests }, (_, number) => number) : [options.only];
  await Promise.all(
    Array.from({ length: options.lanes }, (_, lane) =>
      sendNumbered(
        numbers.filter((_number, index) => index % options.lanes === lane),
        { options, outcome, stranger, lanes },
      ),
    ),
  );
  return outcome;
}

interface Work {
  options: FuzzOptions;
  outcome: FuzzOutcome;
  stranger: FuzzTarget;
  lanes: SharedExclusiveLimiter;
}

async function sendNumbered(numbers: number[], work: Work): Promise<void> {
  const { options, outcome, stranger, lanes } = work;
  let world: FuzzTarget | undefined;
  let left = 0;
  for (const number of numbers) {
    if (left-- <= 0 || world === undefined) {
      world = await lanes.runShared(() => createFuzzTarget(options.origin, `Attacked before ${number}`, options.key));
      left = requestsPerTarget;
    }
    const built = buildRequest(createRandomSource(options.seed, number), { world, stranger } satisfies FuzzContext);
    const result = await lanes.runShared(() => sendAfterRateLimit(options.origin, built));
    await note(number, built, result, work);
    options.onProgress(++outcome.requests);
    if (await isLost(options.origin, built, result, world)) left = 0;
  }
}

/** Sends a request; after a 429 it waits as long as the service asks, up to 10 s, and tries again, at most 4 times. */
async function sendAfterRateLimit(origin: URL, { wire, isSigned }: BuiltRequest): Promise<WireResult> {
  for (let tries = 1; ; tries++) {
    const result = await send(origin, wire);
    if ('silence' in result || result.status !== 429 || !isSigned || tries === 4) return result;
    const seconds = Number(result.headers['retry-after']);
    // A longer wait is the limit on sign-ups and log-ins, whose 429 is a regular answer.
    if (!(seconds <= 10)) return result;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

async function note(number: number, built: BuiltRequest, result: WireResult, { options, outcome, lanes }: Work): Promise<void> {
  const status =
    'silence' in result ? 'no answer' : isFromRuntime(built.question, result) ? `${result.status} of the runtime` : String(result.status);
  outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1;
  const request = shownRequest(built);
  const faults = findFaults(built.question, result);
  const isAnswer = !('silence' in result);
  if (isAnswer && result.status < 300 && built.question.operation) outcome.reached.add(built.question.operation.id);
  if (isAnswer && result.durationMs > outcome.slowest.ms)
    outcome.slowest = { number, request: request.split('\n')[0]!, ms: Math.round(result.durationMs) };
  if (isAnswer && result.durationMs > slowMs && built.question.isWellFormed && !mayWait(built)) {
    const again = await lanes.runExclusive(() => fastestOfTwo(options.origin, built));
    if (again > slowMs) faults.push(`${Math.round(result.durationMs)} ms, and alone ${Math.round(again)} ms`);
    else outcome.slowOnce++;
  }
  if (!isAnswer || result.status >= 500) await requireAlive(options.origin, number, request);
  for (const fault of faults) {
    const finding = { number, fault, request, answer: shownAnswer(result) };
    outcome.findings.push(finding);
    options.onFinding(finding);
  }
}

/** Whoever asks for the tests of an agent waits for them (VERIFY_WAIT_SECONDS). */
const mayWait = ({ question }: BuiltRequest): boolean =>
  ['agents.verify', 'agents.setStatus', 'agents.update'].includes(question.operation?.id ?? '');

async function fastestOfTwo(origin: URL, built: BuiltRequest): Promise<number> {
  const times: number[] = [];
  while (times.length < 2) times.push((await send(origin, built.wire)).durationMs);
  return Math.min(...times);
}

async function requireAlive(origin: URL, number: number, request: string): Promise<void> {
  for (let tries = 1; tries <= 3; tries++) {
    const health = await send(origin, { method: 'GET', target: '/api/v1/health', headers: [], body: null });
    if (!('silence' in health) && health.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  throw new Error(`The service no longer answers after request ${number}:\n${request}`);
}

async function isLost(origin: URL, { isSigned }: BuiltRequest, result: WireResult, world: FuzzTarget): Promise<boolean> {
  if (!isSigned || 'silence' in result || (result.status !== 401 && result.status !== 403)) return false;
  const me = await callApi(origin, { method: 'GET', path: '/api/v1/auth/me', contentType: '', key: world.key });
  return me.status !== 200;
}

const maxShownLength = 1500;

/** The request without its credentials. */
function shownRequest({ wire }: BuiltRequest): string {
  const shown = wire.headers.map(
    ([name, value]) => `${name}: ${/^(x-api-key|authorization|cookie)$/i.test(name) ? '...' : value.slice(0, 200)}`,
  );
  const body =
    wire.body === null
      ? ''
      : `\n\n${wire.body.subarray(0, maxShownLength).toString()}${wire.body.length > maxShownLength ? `... (${wire.body.length} bytes)` : ''}`;
  return [`${wire.method} ${wire.target.slice(0, maxShownLength)}`, ...shown].join('\n') + body;
}

const shownAnswer = (result: WireResult): string => ('silence' in result ? result.silence : bodyLine(result));
const bodyLine = ({ status, headers, body }: WireAnswer): string =>
  `${status} ${headers['content-type'] ?? ''}\n${body.slice(0, maxShownLength)}`;
