import { randomBytes } from 'node:crypto';
import { brokerVariables } from './broker.ts';
import { bundle, bundleService } from './bundle.ts';

/** The options from wrangler.toml that the benchmark reads or changes. */
export interface WorkerOptions {
  compatibilityDate: string;
  bindings: Record<string, string>;
  ratelimits: Record<string, { simple: { limit: number; period: number } }>;
  queueProducers: Record<string, { queueName: string }>;
  queueConsumers: Record<string, object>;
  durableObjects: Record<string, { className: string; scriptName?: string; useSQLite?: boolean }>;
}

const unlimited = 1_000_000_000;
const concurrentCalls = 1000;
/** As `npm start` has it: the local queue hands over one batch at a time, where Cloudflare runs several consumers. */
const placedAtOnce = 100;
const directSocket = { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] };
const secret = () => randomBytes(32).toString('base64');
/** The same for all, since rows with encrypted values are copied between them. */
const ownKeys = { ENCRYPTION_KEY: secret(), SIGNING_KEY: secret() };
const recordedName = (queue: string) => `${queue}-recorded`;

/** Origins on loopback that the Workers call: the simulated vendors, and the language model whose time is known. */
export interface ExternalOrigins {
  simulators: string;
  model: string;
}

/**
 * The three Workers of a benchmark. The service has its options from wrangler.toml, but its own secrets, and no rate limits or call limit that would
 * end the benchmark. The recording service has another database, other queues, and the simulated model, which answers as agents need it. The floor
 * has a binding of each kind.
 */
export async function readWorkers(directory: string, configured: WorkerOptions, origins: ExternalOrigins, hasNames = false) {
  const { compatibilityDate, queueConsumers, durableObjects } = configured;
  // The service's own, so that all three search the same vectors.
  const vectorIndex = { VECTOR_INDEX: { ...durableObjects.VECTOR_INDEX!, scriptName: 'service' } };
  const [service, recording, floor] = await Promise.all([
    bundleService(directory, { hasNames }),
    readRecordingWorker(directory, { ...configured, durableObjects: { ...durableObjects, ...vectorIndex } }, origins),
    bundle(directory, 'floor', 'bench/workers/floor-worker.ts', compatibilityDate),
  ]);
  return [
    { ...withOwnSettings(configured, origins), ...service, name: 'service', d1Databases: { DB: 'service' } },
    recording,
    {
      ...floor,
      ...directSocket,
      name: 'floor',
      compatibilityDate,
      d1Databases: { DB: 'floor' },
      queueProducers: { QUEUE: { queueName: 'floor' } },
      // What the floor cannot handle must not come to the service.
      queueConsumers: { floor: { ...queueConsumers.events, deadLetterQueue: undefined } },
      r2Buckets: { FILES: 'floor' },
      durableObjects: {
        RUN: { className: 'FloorRunObject', useSQLite: true },
        ROWS: { className: 'FloorRowsObject', useSQLite: true },
        CALL_STATES: { className: 'FloorCallStatesObject', useSQLite: true },
        TALK: { className: 'FloorTalkObject', useSQLite: true },
        TEST: { className: 'FloorTestObject', useSQLite: true },
        ...vectorIndex,
      },
    },
  ];
}

/** The recording service; each message comes in a batch of its own, so that what is counted does not depend on how many came together. */
export async function readRecordingWorker(directory: string, configured: WorkerOptions, origins: ExternalOrigins) {
  const { compatibilityDate, queueProducers } = configured;
  const likeService = withOwnSettings(configured, origins);
  return {
    ...likeService,
    ...(await bundle(directory, 'recording', 'bench/workers/recording-worker.ts', compatibilityDate)),
    name: 'recording',
    bindings: { ...likeService.bindings, OPENAI_BASE_URL: `${origins.simulators}/openai/v1` },
    d1Databases: { DB: 'recording' },
    queueProducers: mapped(queueProducers, ({ queueName }) => ({ queueName: recordedName(queueName) })),
    queueConsumers: Object.fromEntries(
      Object.values(queueProducers).map(({ queueName }) => [recordedName(queueName), { maxBatchSize: 1, maxBatchTimeout: 0 }]),
    ),
  };
}

const withOwnSettings = (configured: WorkerOptions, { simulators, model }: ExternalOrigins) => ({
  ...configured,
  ...directSocket,
  bindings: {
    ...configured.bindings,
    ...ownKeys,
    SIGNUP: 'open',
    VECTOR_BACKEND: 'embedded',
    ALLOWED_PRIVATE_ORIGINS: `${simulators},${model}`,
    TWILIO_BASE_URL: `${simulators}/twilio`,
    META_BASE_URL: `${simulators}/meta/v25.0`,
    ...brokerVariables(simulators),
    OPENAI_API_KEY: 'of-the-bench',
    OPENAI_BASE_URL: `${model}/v1`,
    PLAN_CONCURRENT_CALLS: String(concurrentCalls),
    CALLS_AT_ONCE: String(placedAtOnce),
    RATE_LIMIT_REQUESTS: String(unlimited),
  },
  ratelimits: mapped(configured.ratelimits, (limit) => ({ ...limit, simple: { ...limit.simple, limit: unlimited } })),
});

const mapped = <From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
