import { existsSync, rmSync } from 'node:fs';
import { createFirstOrganization } from './first-organization.ts';
import { vectorIndex, type Plan } from './plan.ts';
import { checkName, ensureBuckets, ensureDatabases, ensureIndexes, ensureQueues, writeConfiguration } from './resources.ts';
import { rollBack } from './rollback.ts';
import { prepareSecrets, requiredSecrets } from './secrets.ts';
import { signIn } from './sign-in.ts';
import { smokeTest } from './smoke-test.ts';
import type { DeploymentContext } from './deployment-context.ts';

/** One step: what it would do, and its doing, which answers what has come of it. Every step may be repeated. */
export interface Step {
  name: string;
  would: (plan: Plan) => string[];
  run: (world: DeploymentContext) => Promise<string>;
}

const vectors = `${vectorIndex.dimensions} dimensions, ${vectorIndex.metric}, with metadata indexes on ${vectorIndex.metadata.map(({ propertyName, indexType }) => `${propertyName} (${indexType})`).join(', ')}`;

const signInStep: Step = {
  name: 'Sign in',
  would: () => ['ask Cloudflare for the account of "wrangler login" or CLOUDFLARE_API_TOKEN'],
  run: signIn,
};

const nameStep: Step = {
  name: 'Name',
  would: ({ worker }) => [`make sure that no other Worker of the account is named ${worker}`],
  run: checkName,
};

const databaseStep: Step = {
  name: 'Database (D1)',
  would: ({ databases }) => databases.map(({ binding, name }) => `${name}, bound as ${binding}: create unless it is there`),
  run: ensureDatabases,
};

export const deploymentSteps: Step[] = [
  signInStep,
  nameStep,
  databaseStep,
  {
    name: 'Files (R2)',
    would: ({ configuration }) =>
      configuration.r2_buckets.map(({ binding, bucket_name: name }) => `${name}, bound as ${binding}: create unless it is there`),
    run: ensureBuckets,
  },
  {
    name: 'Queues',
    would: ({ queues, configuration }) =>
      queues.map((queue) => {
        const producers = configuration.queues.producers.filter((producer) => producer.queue === queue).map(({ binding }) => binding);
        return `${queue}${producers.length > 0 ? `, bound as ${producers.join(', ')}` : ', for dead letters'}: create unless it is there`;
      }),
    run: ensureQueues,
  },
  {
    name: 'Vectors (Vectorize)',
    would: ({ configuration }) =>
      (configuration.vectorize ?? []).map(
        ({ binding, index_name: name }) => `${name}, bound as ${binding}: create unless it is there, ${vectors}`,
      ),
    run: ensureIndexes,
  },
  {
    name: 'Configuration',
    would: ({ environment, configuration, domain }) => [
      `write .deploy/${environment}.json: wrangler.toml with these names, the ids of the above, and PUBLIC_URL ${domain ? `https://${domain}` : `https://${configuration.name}.{your subdomain}.workers.dev`}`,
      ...Object.entries(configuration.vars).map(([name, value]) => `variable ${name} = ${value}`),
    ],
    run: writeConfiguration,
  },
  {
    name: 'Secrets',
    would: ({ environment }) => [
      `${requiredSecrets.join(' and ')}: make 32 random bytes each unless the Worker has them, never overwrite them, keep them in .deploy/${environment}.secrets.json`,
    ],
    run: prepareSecrets,
  },
  {
    name: 'Migrations',
    would: ({ databases }) =>
      databases.map(({ binding, name }) => `apply those of migrations/ that ${name} (${binding}) lacks, before the code that needs them`),
    run: async ({ plan, files, wrangler }) => {
      for (const { binding } of plan.databases)
        await wrangler(['d1', 'migrations', 'apply', binding, '--remote', '--config', files.path('')]);
      return 'applied';
    },
  },
  {
    name: 'Worker',
    would: ({ worker, configuration, domain }) => [
      `build it from src/worker.ts, and deploy ${worker} to ${domain ?? 'workers.dev'}`,
      ...configuration.durable_objects.bindings.map(({ name, class_name }) => `Durable Objects ${class_name}, bound as ${name}`),
      `Durable Object migrations ${configuration.migrations.map(({ tag }) => tag).join(', ')}, of which Cloudflare applies those that are new`,
      ...(configuration.ratelimits ?? []).map(({ name, namespace_id: id }) => `rate limit ${name}, namespace ${id}`),
      `files of ${configuration.assets.directory.replace('../', '')}, bound as ${configuration.assets.binding}`,
      ...configuration.queues.consumers.map(
        ({ queue, dead_letter_queue: dead }) => `consumer of ${queue}${dead ? `, dead letters to ${dead}` : ''}`,
      ),
      ...configuration.triggers.crons.map((cron) => `cron trigger ${cron}`),
    ],
    run: async ({ files, wrangler, build }) => {
      await build();
      const secrets = existsSync(files.path('new-secrets')) ? ['--secrets-file', files.path('new-secrets')] : [];
      await wrangler(['deploy', '--no-bundle', '--config', files.path(''), ...secrets]);
      rmSync(files.path('new-secrets'), { force: true });
      return 'deployed';
    },
  },
  {
    name: 'First organization',
    would: ({ environment }) => [
      `create it, its user and an admin key while there is none, and keep them in .deploy/${environment}.credentials.json`,
    ],
    run: createFirstOrganization,
  },
  {
    name: 'Smoke test',
    would: () => ['wait for GET /health, create a contact, post an event, and wait for the run that it starts'],
    run: smokeTest,
  },
];

export const rollbackSteps: Step[] = [
  signInStep,
  {
    name: 'Rollback',
    would: ({ worker }) => [
      `put the version before back (${worker}), unless Durable Object classes have changed since, which Cloudflare refuses`,
    ],
    run: rollBack,
  },
];
