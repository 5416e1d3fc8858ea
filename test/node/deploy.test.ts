import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { adviceFor } from '../../scripts/deploy/advice.ts';
import { parseDeployArguments } from '../../scripts/deploy/arguments.ts';
import { costTable, withCostTable } from '../../scripts/deploy/cost-table.ts';
import type { DeploymentCredentials } from '../../scripts/deploy/first-organization.ts';
import { nameFor, planDeployment, readConfiguration, type RawConfiguration } from '../../scripts/deploy/plan.ts';
import { LocalError, projectDirectory } from '../../scripts/local/settings.ts';
import { verifyPassword } from '../../src/accounts/passwords/hash-password.ts';
import { codeMigrations } from '../../src/database/migration-state.ts';
import { sha256Hex } from '../../src/library/security/hash.ts';
import type { Script } from './cloudflare-fake.ts';
import { Deployer } from './deploy-world.ts';

const raw = readConfiguration();
const worker = raw.name;
// As wrangler reads it, which is how the plan of a deployment does not.
const configuration = readConfig({ config: join(projectDirectory, 'wrangler.toml') }) as unknown as RawConfiguration & {
  vectorize: { binding: string; index_name: string }[];
  ratelimits: { name: string }[];
};
const queues = [
  ...new Set([
    ...configuration.queues.producers.map(({ queue }) => queue),
    ...configuration.queues.consumers.flatMap(({ queue, dead_letter_queue: dead }) => (dead ? [queue, dead] : [queue])),
  ]),
];

/** Every name by which `wrangler.toml` binds or asks for something. */
const bound = [
  ...configuration.d1_databases.flatMap(({ binding, database_name: name }) => [binding, name]),
  ...configuration.r2_buckets.flatMap(({ binding, bucket_name: name }) => [binding, name]),
  ...configuration.vectorize.flatMap(({ binding, index_name: name }) => [binding, name]),
  ...configuration.queues.producers.map(({ binding }) => binding),
  ...queues,
  ...configuration.durable_objects.bindings.flatMap(({ name, class_name }) => [name, class_name]),
  ...configuration.migrations.map(({ tag }) => tag),
  ...configuration.ratelimits.map(({ name }) => name),
  ...configuration.triggers.crons,
  ...Object.keys(configuration.vars),
  configuration.assets.binding,
];

const read = <T>(file: string) => JSON.parse(readFileSync(file, 'utf8')) as T;

const databaseOf = (deployer: Deployer) => [...deployer.fake.account.databases.values()][0]!.database;

/** A deployment whose wrangler only notes what it was asked, with the tables made. */
async function quickDeployer(): Promise<{ deployer: Deployer; wranglerAsked: string[][] }> {
  const deployer = await Deployer.create();
  const wranglerAsked: string[][] = [];
  deployer.build = async () => wranglerAsked.push(['build']);
  deployer.instead = async (parameters) => {
    wranglerAsked.push(parameters);
    if (parameters[0] === 'd1') {
      const database = databaseOf(deployer);
      database.exec('CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY, name TEXT UNIQUE)');
      for (const name of codeMigrations) {
        if (database.prepare('SELECT 1 FROM d1_migrations WHERE name = ?').get(name) !== undefined) continue;
        database.exec(readFileSync(join(projectDirectory, 'migrations', name), 'utf8'));
        database.prepare('INSERT INTO d1_migrations (name) VALUES (?)').run(name);
      }
    }
    if (parameters[0] === 'deploy') {
      const secrets = parameters.includes('--secrets-file') ? read<object>(parameters[parameters.indexOf('--secrets-file') + 1]!) : {};
      const known = deployer.fake.account.scripts.get(worker) ?? newScript();
      for (const name of Object.keys(secrets)) known.secrets.add(name);
      deployer.fake.account.scripts.set(worker, known);
    }
    return '';
  };
  return { deployer, wranglerAsked };
}

const newScript = (versions: Script['versions'] = []): Script => ({
  secrets: new Set(),
  bindings: [],
  migrationTag: undefined,
  uploaded: versions,
  versions,
  crons: [],
  domains: [],
});

describe('the real wrangler', { tags: 'soak' }, () => {
  test('creates, fills and deploys everything that wrangler.toml names; again it changes nothing but the version; and it goes back', async () => {
    const deployer = await Deployer.create();
    const first = await deployer.run('--organization', "Ada's", '--email', 'ada@acme.example');
    const { account } = deployer.fake;
    expect([...account.databases.values()].map(({ name }) => name)).toEqual(raw.d1_databases.map(({ database_name: name }) => name));
    expect([...account.buckets]).toEqual(raw.r2_buckets.map(({ bucket_name: name }) => name));
    expect([...account.queues.keys()].toSorted()).toEqual(queues.toSorted());
    expect([...account.indexes]).toEqual([
      [
        'voice-agents-vectors',
        { config: { dimensions: 1536, metric: 'cosine' }, metadata: [{ propertyName: 'document_id', indexType: 'number' }] },
      ],
    ]);
    const script = account.scripts.get(worker)!;
    expect([...script.secrets].toSorted()).toEqual(['ENCRYPTION_KEY', 'SIGNING_KEY']);
    const names = new Set(script.bindings.map(({ name }) => name));
    const allBindings = bound.filter((name) => /^[A-Z_]+$/.test(name));
    expect(allBindings.filter((name) => !names.has(name))).toEqual([]);
    expect(script).toMatchObject({ migrationTag: raw.migrations.at(-1)!.tag, crons: raw.triggers.crons });
    expect(script.versions.map(({ hasSource }) => hasSource)).toEqual([true]);
    for (const { queue, dead_letter_queue: dead } of raw.queues.consumers)
      expect(account.queues.get(queue)!.consumers, queue).toMatchObject([{ script: worker, ...(dead ? { dead } : {}) }]);
    const database = databaseOf(deployer);
    const applied = database.prepare('SELECT name FROM d1_migrations ORDER BY id').all();
    expect(applied.map(({ name }) => name)).toEqual(codeMigrations);

    const credentials = read<DeploymentCredentials>(join(deployer.directory, 'production.credentials.json'));
    const owner = database
      .prepare(
        `SELECT email, password_hash, organization.name, scopes FROM api_key JOIN organization ON organization.id = organization_id
          JOIN membership USING (organization_id) JOIN user ON user.id = membership.user_id AND user.id = created_by WHERE key_hash = ?`,
      )
      .get(sha256Hex(credentials.api_key))!;
    expect(owner).toMatchObject({ email: 'ada@acme.example', name: "Ada's", scopes: '["admin"]' });
    expect(await verifyPassword(credentials.password, String(owner.password_hash))).toBe(true);
    const address = `https://${worker}.acme.workers.dev`;
    expect(credentials.base_url).toBe(`${address}/api/v1`);
    expect(first).toContain(address);
    expect(deployer.asked.map(({ url }) => url)).toContain(`${address}/api/v1/events`);
    for (const { url, headers } of deployer.asked.filter((request) => !request.url.endsWith('/health')))
      expect(headers.get('x-api-key'), url).toBe(credentials.api_key);
    for (const file of ['production.json', 'production.secrets.json', 'production.credentials.json'])
      expect(statSync(join(deployer.directory, file)).mode & 0o777).toBe(0o600);
    expect(existsSync(join(deployer.directory, 'production.new-secrets.json'))).toBe(false);
    const secrets = read<Record<string, string>>(join(deployer.directory, 'production.secrets.json'));
    for (const secret of [...Object.values(secrets), credentials.api_key, credentials.password]) expect(first).not.toContain(secret);

    const before = deployer.fake.requests.length;
    await deployer.run();
    const changes = deployer.fake.requests.slice(before).filter((request) => /^(POST|PUT|DELETE)/.test(request));
    const creations = changes.filter((request) => /\/(d1\/database|r2\/buckets|queues|indexes|metadata_index\/create)$/.test(request));
    expect(creations).toEqual([]);
    expect(script.versions).toHaveLength(2);
    expect(database.prepare('SELECT count(*) AS count FROM organization').get()).toEqual({ count: 1 });
    expect(read(join(deployer.directory, 'production.secrets.json'))).toEqual(secrets);

    const [now, then] = script.versions.map(({ id }) => id);
    expect(await deployer.run('--rollback')).toContain(`back at ${then}; ${now} can be put back`);
    expect(script.versions[0]!.id).toBe(then);
    expect(deployer.fake.unknown).toEqual([]);
  }, 240_000);
});

describe('--dry-run', () => {
  const dryRun = async (...parameters: string[]) => {
    const deployer = await Deployer.create();
    const said = await deployer.run('--dry-run', ...parameters);
    expect(deployer.fake.requests).toEqual([]);
    expect(existsSync(join(deployer.directory, 'production.json'))).toBe(false);
    return said;
  };

  test('names everything that wrangler.toml binds, without account, network or file', async () => {
    const said = await dryRun();
    expect(bound.length).toBeGreaterThan(40);
    for (const name of bound) expect(said).toMatch(new RegExp(`(^|[^\\w-])${name.replaceAll('*', '\\*')}($|[^\\w-])`, 'm'));
    expect(said).toContain('1536 dimensions, cosine, with metadata indexes on document_id (number)');
  });

  test('tells of a rollback, and of a domain', async () => {
    expect(await dryRun('--rollback')).toContain('unless Durable Object classes have changed since');
    expect(await dryRun('--domain', 'Calls.example.com')).toContain('PUBLIC_URL https://calls.example.com');
  });
});

test('the docs name everything that is created, and the costs that were measured', () => {
  const page = readFileSync(join(projectDirectory, 'docs', 'deploying.md'), 'utf8');
  const variables = Object.keys(configuration.vars);
  const named = bound.filter((name) => !variables.includes(name) && !/^v\d+$|Object$/.test(name));
  expect(named.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  const costs = {
    measured_at: '2026-11-28T00:00:00Z',
    commit: 'abc',
    run_cost: { dollarsPerMillion: { before: 15.9, run: 53 } },
    row_costs: [],
  };
  expect(costTable(costs)).toContain('| a run of six nodes with its history | $53 | $0.53 |');
  expect(withCostTable(withCostTable(page, costs), costs)).toBe(withCostTable(page, costs));
});

describe('a plan', () => {
  test('knows every table of wrangler.toml, and refuses one that it could not bring about', () => {
    expect(() => planDeployment(raw, 'production', undefined)).not.toThrow();
    expect(() => planDeployment({ ...raw, kv_namespaces: [] } as RawConfiguration, 'production', undefined)).toThrow(/\[kv_namespaces\]/);
  });

  test('gives staging names of its own for everything, by which the service still tells its queues apart', () => {
    const [production, staging] = ['production', 'staging'].map((environment) => planDeployment(raw, environment, undefined));
    const names = (plan: typeof production) => [
      plan!.worker,
      ...plan!.databases.map(({ name }) => name),
      ...plan!.buckets,
      ...plan!.indexes,
      ...plan!.queues,
    ];
    expect(names(staging)).toHaveLength(names(production).length);
    expect(names(staging).filter((name) => names(production).includes(name))).toEqual([]);
    for (const queue of production!.queues) {
      expect(nameFor(queue, 'staging').endsWith('-dead')).toBe(queue.endsWith('-dead'));
      expect(nameFor(queue, 'staging').startsWith(queue.replace(/-dead$/, ''))).toBe(true);
    }
    const limit = (plan: typeof production) => plan!.configuration.ratelimits![0]!.namespace_id;
    expect(limit(production)).toBe(raw.ratelimits![0]!.namespace_id);
    expect(limit(staging)).toMatch(/^\d+$/);
    expect(limit(staging)).not.toBe(limit(production));
  });

  test('takes variables of an environment from its part of wrangler.toml, and no preparation for development', () => {
    const { configuration: planned } = planDeployment({ ...raw, env: { staging: { vars: { LOG_LEVEL: 'debug' } } } }, 'staging', undefined);
    expect(planned.vars).toEqual({ ...raw.vars, LOG_LEVEL: 'debug' });
    expect(Object.keys(planned).filter((key) => ['build', 'dev', 'env'].includes(key))).toEqual([]);
  });
});

describe('a deployment', () => {
  test('that is killed after any step is completed by the next, with the same secrets and one organization', async () => {
    const { deployer } = await quickDeployer();
    const wrangler = deployer.instead;
    const interrupted = async (match: RegExp | string) => {
      if (match instanceof RegExp) deployer.fake.faults = [{ match, answer: { status: 400, errors: [{ code: 1, message: 'power cut' }] } }];
      else
        deployer.instead = async (parameters) =>
          parameters[0] === match ? Promise.reject(new LocalError('power cut')) : wrangler(parameters)!;
      await expect(deployer.run(), String(match)).rejects.toThrow(/power cut[^]*run the same command again/);
      deployer.instead = wrangler;
    };
    const secretsFile = join(deployer.directory, 'production.secrets.json');
    for (const place of [
      /GET .*settings/,
      /POST .*database$/,
      /POST .*buckets/,
      /POST .*queues/,
      /POST .*indexes$/,
      /POST .*create/,
      /workers\/subdomain/,
    ])
      await interrupted(place);
    await interrupted('d1');
    const secrets = read(secretsFile);
    await interrupted('deploy');
    await interrupted(/POST .*query/);
    await deployer.run();
    expect(read(secretsFile)).toEqual(secrets);
    const counts = ['user', 'organization', 'membership', 'api_key'].map(
      (table) => databaseOf(deployer).prepare(`SELECT count(*) AS count FROM ${table}`).get()!.count,
    );
    expect(counts).toEqual([1, 1, 1, 1]);
  });

  test('breaks off within the first organization, and the next completes it with the key that was kept', { tags: 'soak' }, async () => {
    for (let statement = 1; statement <= 5; statement++) {
      const { deployer } = await quickDeployer();
      let seen = 0;
      const answer = { status: 400, errors: [{ code: 1, message: 'power cut' }] };
      // The first question is for organizations, before there are tables.
      deployer.fake.faults = [
        { match: { test: (asked: string) => asked.endsWith('/query') && ++seen === statement + 1 } as RegExp, answer },
      ];
      await expect(deployer.run()).rejects.toThrow('power cut');
      const kept = existsSync(join(deployer.directory, 'production.credentials.json'))
        ? read<DeploymentCredentials>(join(deployer.directory, 'production.credentials.json'))
        : undefined;
      await deployer.run();
      const credentials = read<DeploymentCredentials>(join(deployer.directory, 'production.credentials.json'));
      if (kept) expect(credentials).toEqual(kept);
      expect(databaseOf(deployer).prepare('SELECT key_hash FROM api_key').all()).toEqual([{ key_hash: sha256Hex(credentials.api_key) }]);
      expect(databaseOf(deployer).prepare('SELECT count(*) AS count FROM membership').get()).toEqual({ count: 1 });
    }
  });

  test('never overwrites a secret, and makes no encryption key for a database that has another', { tags: 'soak' }, async () => {
    const { deployer, wranglerAsked } = await quickDeployer();
    await deployer.run();
    const { scripts } = deployer.fake.account;
    wranglerAsked.length = 0;
    await deployer.run();
    expect(wranglerAsked.flat()).not.toContain('--secrets-file');

    const other = Object.assign(await Deployer.create(), { instead: deployer.instead });
    other.fake.accounts = deployer.fake.accounts;
    scripts.get(worker)!.secrets.delete('ENCRYPTION_KEY');
    await expect(other.run()).rejects.toThrow(/Secrets, failed[^]*set the variable ENCRYPTION_KEY to the one that you kept/);
    other.environment.ENCRYPTION_KEY = 'the-one-that-was-kept';
    await other.run();
    expect(read(join(other.directory, 'production.secrets.json'))).toEqual({ ENCRYPTION_KEY: 'the-one-that-was-kept' });
    expect(other.said.join('\n')).toContain('the database has keys already; none is made');
  });

  test('keeps its domain, refuses another account, and chooses among several only as given', async () => {
    const { deployer } = await quickDeployer();
    await deployer.run('--domain', 'calls.example.com');
    await deployer.run();
    const written = read<RawConfiguration>(join(deployer.directory, 'production.json'));
    expect(written).toMatchObject({
      account_id: 'a'.repeat(32),
      workers_dev: false,
      routes: [{ pattern: 'calls.example.com', custom_domain: true }],
      vars: { PUBLIC_URL: 'https://calls.example.com', SIGNUP: 'closed' },
    });
    const [acme] = deployer.fake.accounts;
    const beta = Object.assign(Object.create(Object.getPrototypeOf(acme)), acme, { id: 'b'.repeat(32), name: 'Beta' });
    deployer.fake.accounts = [acme!, beta];
    await expect(deployer.run()).rejects.toThrow(/several accounts[^]*CLOUDFLARE_ACCOUNT_ID[^]*bbbb.*Beta/);
    deployer.environment.CLOUDFLARE_ACCOUNT_ID = 'c'.repeat(32);
    await expect(deployer.run()).rejects.toThrow(/which this login may not use/);
    deployer.environment.CLOUDFLARE_ACCOUNT_ID = beta.id;
    await expect(deployer.run()).rejects.toThrow(/was deployed to the account aaaa[^]*--env/);
  });

  test.each([
    [
      'a token that is not accepted',
      (d: Deployer) => void (d.environment.CLOUDFLARE_API_TOKEN = 'wrong'),
      /Sign in, failed[^]*npx wrangler login/,
    ],
    [
      'another Worker of the name',
      (d: Deployer) => void d.fake.account.scripts.set(worker, { ...newScript(), bindings: [{ type: 'kv_namespace', name: 'X' }] }),
      /Name, failed[^]*--env NAME/,
    ],
    [
      'a queue of another Worker',
      (d: Deployer) =>
        void d.fake.account.queues.set('events', { id: 'q', consumers: [{ id: 'c', script: 'shop', settings: {}, dead: undefined }] }),
      /Queues, failed[^]*belongs to the Worker shop/,
    ],
    [
      'a plan without queues',
      (d: Deployer) =>
        void d.fake.faults.push({
          match: /POST .*queues/,
          answer: { status: 403, errors: [{ code: 100129, message: 'Queues is unavailable on the free plan' }] },
        }),
      /Queues, failed[^]*Workers Paid plan/,
    ],
    [
      'R2 that is not enabled',
      (d: Deployer) =>
        void d.fake.faults.push({
          match: /POST .*buckets/,
          answer: { status: 403, errors: [{ code: 10042, message: 'Please enable R2' }] },
        }),
      /Files \(R2\), failed[^]*Enable R2 once/,
    ],
    [
      'an index of another form',
      (d: Deployer) =>
        void d.fake.account.indexes.set('voice-agents-vectors', { config: { dimensions: 768, metric: 'cosine' }, metadata: [] }),
      /Vectors[^]*768 dimensions[^]*1536/,
    ],
    ['no workers.dev subdomain', (d: Deployer) => void (d.fake.account.subdomain = null), /Configuration, failed[^]*--domain/],
  ])('says the step and the next action where there is %s', async (_what, prepare, expected) => {
    const { deployer } = await quickDeployer();
    prepare(deployer);
    await expect(deployer.run()).rejects.toThrow(expected);
  });

  test('goes on through a moment in which Cloudflare fails', async () => {
    const { deployer } = await quickDeployer();
    deployer.fake.faults = [{ match: /POST .*queues/, answer: { status: 503, errors: [] } }];
    await deployer.run();
    expect([...deployer.fake.account.queues.keys()].toSorted()).toEqual(queues.toSorted());
  });
});

describe('a rollback', () => {
  test('across a change of Durable Object classes is refused with the reason; to an unknown version, with those that there are', async () => {
    const { deployer, wranglerAsked } = await quickDeployer();
    const version = (id: string, migrationTag: string) => ({ id, migrationTag, hasSource: true });
    deployer.fake.account.scripts.set(worker, newScript([version('v-3', 'v4'), version('v-2', 'v4'), version('v-1', 'v3')]));
    await expect(deployer.run('--rollback', 'v-1')).rejects.toThrow(/does not roll back across[^]*migration v3[^]*Mend the fault forwards/);
    await expect(deployer.run('--rollback', 'v-9')).rejects.toThrow(/no version v-9[^]*v-3, v-2, v-1/);
    await expect(deployer.run('--rollback', 'v-3')).rejects.toThrow(/is the version that is deployed/);
    expect(wranglerAsked).toEqual([]);
    await deployer.run('--rollback');
    expect(wranglerAsked.map((parameters) => parameters.slice(0, 3))).toEqual([['rollback', 'v-2', '--yes']]);
  });
});

test.each([
  [['--env', 'Staging!'], /--env is "Staging!"/],
  [['--env', 'staging-'], /--env/],
  [['--domain', 'https://calls.example.com'], /--domain/],
  [['--email', 'ada'], /--email/],
  [['staging'], /"staging" is not understood/],
  [['--dryrun'], /--dryrun/],
])('the command line %j is refused with what would do', (parameters, expected) => {
  expect(() => parseDeployArguments(parameters)).toThrow(expected);
});

test('advice is taken from what wrangler calls its error, not from what it prints before', () => {
  const printed = 'env.RATE_LIMITER  Rate Limit\nzone\n✘ [ERROR] Authentication error [code: 10000]';
  expect(adviceFor(new LocalError(printed))).toMatch(/^The login or token is not accepted/);
});
