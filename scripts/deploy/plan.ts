import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { experimental_readRawConfig as readRawConfig } from 'wrangler';
import { LocalError, projectDirectory } from '../local/settings.ts';

/** What `wrangler.toml` says, as far as a deployment reads it. */
export interface RawConfiguration {
  name: string;
  main: string;
  assets: { directory: string; binding: string };
  vars: Record<string, string>;
  d1_databases: { binding: string; database_name: string; database_id?: string; migrations_dir: string }[];
  r2_buckets: { binding: string; bucket_name: string }[];
  vectorize?: { binding: string; index_name: string }[];
  queues: { producers: { binding: string; queue: string }[]; consumers: { queue: string; dead_letter_queue?: string }[] };
  durable_objects: { bindings: { name: string; class_name: string }[] };
  migrations: { tag: string }[];
  ratelimits?: { name: string; namespace_id: string }[];
  triggers: { crons: string[] };
  routes?: { pattern: string; custom_domain: boolean }[];
  env?: Record<string, { vars?: Record<string, string> }>;
  [other: string]: unknown;
}

/** One deployment: what it is called, what it needs, and the configuration by which wrangler makes it. */
export interface Plan {
  environment: string;
  worker: string;
  databases: { binding: string; name: string }[];
  buckets: string[];
  indexes: string[];
  queues: string[];
  domain: string | undefined;
  /** `wrangler.toml` with this deployment's names, its paths relative to the repository. Ids are filled in when they are known. */
  configuration: RawConfiguration;
}

/** The vectors' form, and what is filtered by; both must be there before the first vector. */
export const vectorIndex = {
  dimensions: 1536,
  metric: 'cosine',
  metadata: [{ propertyName: 'document_id', indexType: 'number' }],
} as const;

/** Tables of `wrangler.toml` that a deployment knows how to bring about. Any other would be bound to nothing. */
const known = new Set(
  (
    'name main find_additional_modules rules compatibility_date compatibility_flags workers_dev upload_source_maps build dev vars assets d1_databases r2_buckets vectorize ' +
    'queues durable_objects migrations ratelimits triggers limits observability env placement routes'
  ).split(' '),
);

export const readConfiguration = (file = join(projectDirectory, 'wrangler.toml')) =>
  readRawConfig({ config: file }).rawConfig as unknown as RawConfiguration;

export function planDeployment(raw: RawConfiguration, environment: string, domain: string | undefined): Plan {
  const unknown = Object.keys(raw).filter((key) => !known.has(key));
  if (unknown.length > 0)
    throw new LocalError(
      `wrangler.toml has [${unknown.join('], [')}], which npm run deploy does not know how to create; teach it in scripts/deploy/plan.ts.`,
    );
  const named = (name: string) => nameFor(name, environment);
  const { build: _build, dev: _dev, env: environments = {}, ...rest } = raw;
  const configuration: RawConfiguration = {
    ...rest,
    name: named(raw.name),
    vars: { ...raw.vars, ...environments[environment]?.vars },
    d1_databases: raw.d1_databases.map((database) => ({
      ...database,
      database_name: named(database.database_name),
    })),
    r2_buckets: raw.r2_buckets.map((bucket) => ({ ...bucket, bucket_name: named(bucket.bucket_name) })),
    ...(raw.vectorize ? { vectorize: raw.vectorize.map((index) => ({ ...index, index_name: named(index.index_name) })) } : {}),
    queues: {
      producers: raw.queues.producers.map((producer) => ({ ...producer, queue: named(producer.queue) })),
      consumers: raw.queues.consumers.map((consumer) => ({
        ...consumer,
        queue: named(consumer.queue),
        ...(consumer.dead_letter_queue === undefined ? {} : { dead_letter_queue: named(consumer.dead_letter_queue) }),
      })),
    },
    ...(raw.ratelimits
      ? { ratelimits: raw.ratelimits.map((limit) => ({ ...limit, namespace_id: rateLimitNamespace(limit.namespace_id, environment) })) }
      : {}),
  };
  if (domain !== undefined) Object.assign(configuration, { workers_dev: false, routes: [{ pattern: domain, custom_domain: true }] });
  const { producers, consumers } = configuration.queues;
  const queues = [
    ...producers.map(({ queue }) => queue),
    ...consumers.flatMap(({ queue, dead_letter_queue: dead }) => (dead === undefined ? [queue] : [queue, dead])),
  ];
  return {
    environment,
    worker: configuration.name,
    databases: configuration.d1_databases.map(({ binding, database_name: name }) => ({ binding, name })),
    buckets: configuration.r2_buckets.map(({ bucket_name: name }) => name),
    indexes: (configuration.vectorize ?? []).map(({ index_name: name }) => name),
    queues: [...new Set(queues)],
    domain,
    configuration,
  };
}

/** The service tells its queues apart by their beginnings and by `-dead` at their end, so the environment stands between. */
export function nameFor(name: string, environment: string): string {
  if (environment === 'production') return name;
  return name.endsWith('-dead') ? `${name.slice(0, -'-dead'.length)}-${environment}-dead` : `${name}-${environment}`;
}

/** A number in the account that no other deployment has: counters under one number are shared. */
const rateLimitNamespace = (id: string, environment: string): string =>
  environment === 'production'
    ? id
    : String(parseInt(createHash('sha256').update(`${id}/${environment}`).digest('hex').slice(0, 7), 16) + 10_000);
