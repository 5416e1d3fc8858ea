import { createServer, type IncomingMessage } from 'node:http';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { onTestFinished } from 'vitest';

interface Version {
  id: string;
  migrationTag: string | undefined;
  hasSource: boolean;
}

export interface Script {
  secrets: Set<string>;
  bindings: { type: string; name: string }[];
  migrationTag: string | undefined;
  /** Those that were uploaded, and of them those that were deployed, the newest first. */
  uploaded: Version[];
  versions: Version[];
  crons: string[];
  domains: string[];
}

interface Answer {
  status?: number;
  result?: unknown;
  errors?: { code: number; message: string }[];
}

/** What one account holds. */
class Account {
  readonly id: string;
  readonly name: string;
  subdomain: string | null = 'acme';
  databases = new Map<string, { uuid: string; name: string; database: DatabaseSync }>();
  buckets = new Set<string>();
  queues = new Map<
    string,
    { id: string; consumers: { id: string; script: string; settings: Record<string, unknown>; dead: string | undefined }[] }
  >();
  indexes = new Map<string, { config: { dimensions: number; metric: string }; metadata: { propertyName: string; indexType: string }[] }>();
  scripts = new Map<string, Script>();

  constructor(id: string, name: string) {
    this.id = id;
    this.name = name;
  }
}

const failure = (status: number, code: number, message: string): Answer => ({ status, errors: [{ code, message }] });

/**
 * Cloudflare's API on loopback, as far as a deployment asks it, by itself or through wrangler: D1 is real SQLite; the rest is remembered.
 * `faults` answer in the place of the next request that one fits. Paths that it does not know are 404 and stand in `unknown`.
 */
export class CloudflareFake {
  accounts = [new Account('a'.repeat(32), 'Acme')];
  token = 'token-of-the-deployer';
  requests: string[] = [];
  unknown: string[] = [];
  faults: { match: RegExp; answer: Answer }[] = [];
  url = '';
  #serial = 0;

  get account(): Account {
    return this.accounts[0]!;
  }

  async listen(): Promise<this> {
    const server = createServer((request, response) => {
      void readBody(request).then((body) => {
        const answer = this.#answer(request, body);
        const status = answer.status ?? 200;
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            success: status < 400,
            result: answer.result ?? null,
            errors: answer.errors ?? [],
            messages: [],
            result_info: { page: 1, total_pages: 1 },
          }),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    this.url = `http://127.0.0.1:${(server.address() as { port: number }).port}/client/v4`;
    return this;
  }

  #answer(request: IncomingMessage, body: Buffer): Answer {
    const { pathname, searchParams } = new URL(request.url!.replace('/client/v4', ''), 'http://fake');
    const asked = `${request.method} ${pathname}`;
    this.requests.push(asked);
    const fault = this.faults.findIndex(({ match }) => match.test(asked));
    if (fault !== -1) return this.faults.splice(fault, 1)[0]!.answer;
    if (request.headers.authorization !== `Bearer ${this.token}`) return failure(401, 10000, 'Authentication error');
    if (pathname === '/accounts') return { result: this.accounts.map(({ id, name }) => ({ id, name })) };
    if (pathname === '/user') return { result: { email: 'ada@example.com' } };
    if (pathname === '/memberships') return { result: this.accounts.map(({ id, name }) => ({ id, account: { id, name } })) };
    const [, id, rest] = /^\/accounts\/(\w+)\/(.*)$/.exec(pathname) ?? [];
    const account = this.accounts.find((known) => known.id === id);
    const answer = account && this.#answerFor(account, request.method!, rest!, searchParams, body, request.headers['content-type'] ?? '');
    if (answer) return answer;
    this.unknown.push(asked);
    return failure(404, 7003, `No route for ${asked}`);
  }

  #answerFor(account: Account, method: string, path: string, query: URLSearchParams, body: Buffer, type: string): Answer | undefined {
    const json = () => JSON.parse(body.toString() || '{}');
    const [area, ...parts] = path.split('/');
    if (area === 'd1') return this.#database(account, method, parts, query, json);
    if (area === 'r2') return bucket(account, method, parts, json);
    if (area === 'queues') return this.#queue(account, method, parts, query, json);
    if (area === 'vectorize') return index(account, method, parts, json);
    if (area === 'workers') return this.#worker(account, method, parts, body, type, json);
    return undefined;
  }

  #id = () => `00000000-0000-4000-8000-${String(++this.#serial).padStart(12, '0')}`;

  #database(account: Account, method: string, parts: string[], query: URLSearchParams, json: () => any): Answer | undefined {
    const [, uuid, verb] = parts;
    if (uuid === undefined && method === 'GET') {
      const name = query.get('name');
      return {
        result: [...account.databases.values()]
          .filter((known) => !name || known.name.includes(name))
          .map(({ uuid: id, name: called }) => ({ uuid: id, name: called })),
      };
    }
    if (uuid === undefined) {
      const { name } = json();
      if ([...account.databases.values()].some((known) => known.name === name))
        return failure(400, 7502, `A database with the name '${name}' already exists`);
      const database = { uuid: this.#id(), name, database: new DatabaseSync(':memory:') };
      account.databases.set(database.uuid, database);
      return { result: { uuid: database.uuid, name } };
    }
    const known = account.databases.get(uuid);
    if (!known) return failure(404, 7404, `The database ${uuid} could not be found`);
    if (verb === undefined) return { result: { uuid, name: known.name } };
    if (verb !== 'query') return undefined;
    const { sql, params = [] } = json() as { sql: string; params?: SQLInputValue[] };
    try {
      return { result: [{ success: true, meta: { duration: 1 }, results: runSql(known.database, sql, params) }] };
    } catch (error) {
      return failure(400, 7500, `${(error as Error).message}: SQLITE_ERROR`);
    }
  }

  #queue(account: Account, method: string, parts: string[], query: URLSearchParams, json: () => any): Answer | undefined {
    const [id, part, consumerId] = parts;
    const shown = (name: string) => {
      const queue = account.queues.get(name)!;
      const consumers = queue.consumers.map(({ id: consumer, script, settings, dead }) => ({
        consumer_id: consumer,
        queue_id: queue.id,
        queue_name: name,
        type: 'worker',
        script,
        settings,
        dead_letter_queue: dead,
      }));
      return { queue_id: queue.id, queue_name: name, producers: [], consumers, consumers_total_count: consumers.length };
    };
    if (id === undefined && method === 'GET') {
      const names = query.getAll('name');
      return { result: [...account.queues.keys()].filter((known) => names.length === 0 || names.includes(known)).map(shown) };
    }
    if (id === undefined) {
      const name = json().queue_name;
      if (account.queues.has(name)) return failure(409, 11009, `Queue name '${name}' is already taken`);
      account.queues.set(name, { id: this.#id(), consumers: [] });
      return { result: shown(name) };
    }
    const name = [...account.queues].find(([, queue]) => queue.id === id)?.[0];
    if (name === undefined) return failure(404, 11000, 'The queue does not exist');
    const queue = account.queues.get(name)!;
    if (part !== 'consumers') return { result: shown(name) };
    if (method === 'GET') return { result: shown(name).consumers };
    const { script_name: script, settings, dead_letter_queue: dead } = json();
    if (method === 'POST') queue.consumers.push({ id: this.#id(), script, settings, dead });
    else queue.consumers = queue.consumers.map((known) => (known.id === consumerId ? { ...known, script, settings, dead } : known));
    return { result: {} };
  }

  #worker(account: Account, method: string, parts: string[], body: Buffer, type: string, json: () => any): Answer | undefined {
    const [kind, name, ...rest] = parts;
    if (kind === 'subdomain')
      return account.subdomain === null ? failure(404, 10007, 'no subdomain') : { result: { subdomain: account.subdomain } };
    if (kind === 'services') {
      const known = account.scripts.get(name!);
      if (!known) return failure(404, 10090, 'This Worker does not exist on your account');
      return {
        result: {
          id: name,
          default_environment: {
            environment: 'production',
            script: { id: name, migration_tag: known.migrationTag, last_deployed_from: 'wrangler', tag: 't' },
          },
          script: known,
        },
      };
    }
    if (kind === 'workers') {
      return account.scripts.has(name!)
        ? { result: { id: name, name, subdomain: { enabled: true } } }
        : failure(404, 10007, 'no such Worker');
    }
    if (kind === 'assets') return { status: 201, result: { jwt: 'assets-done' } };
    if (kind === 'domains') return { result: [] };
    if (kind !== 'scripts') return undefined;
    if (name === undefined) return { result: [...account.scripts].map(([id, { migrationTag }]) => ({ id, migration_tag: migrationTag })) };
    const verb = rest.join('/');
    if (verb === 'assets-upload-session') return { result: { jwt: 'assets-done', buckets: [] } };
    if ((verb === '' || verb === 'versions') && (method === 'PUT' || method === 'POST'))
      return this.#upload(account, name, body, type, verb === 'versions');
    const script = account.scripts.get(name);
    if (script === undefined) return failure(404, 10007, 'This Worker does not exist on your account.');
    if (verb === 'secrets') return { result: [...script.secrets].map((secret) => ({ name: secret, type: 'secret_text' })) };
    if (verb === 'settings' || verb === 'script-settings')
      return { result: { bindings: script.bindings, migration_tag: script.migrationTag, tags: [] } };
    if (verb === 'subdomain') return { result: { enabled: true, previews_enabled: false } };
    if (verb === 'schedules') {
      if (method === 'PUT') script.crons = json().map(({ cron }: { cron: string }) => cron);
      return { result: { schedules: script.crons.map((cron) => ({ cron })) } };
    }
    if (verb === 'domains/records' || verb === 'domains/changeset') {
      if (method === 'PUT') script.domains = json().origins.map(({ hostname }: { hostname: string }) => hostname);
      return { result: verb.endsWith('changeset') ? { added: [], removed: [], updated: [], conflicting: [] } : [] };
    }
    if (verb === 'deployments') {
      if (method === 'POST') {
        const { version_id: id } = json().versions[0];
        const version = script.uploaded.find((known) => known.id === id)!;
        if (version.migrationTag !== script.migrationTag) return failure(400, 10211, 'Durable Object migrations lie between');
        script.versions = [version, ...script.versions];
        return { result: { id: this.#id() } };
      }
      const deployments = script.versions.map((version) => ({
        id: version.id,
        source: 'api',
        strategy: 'percentage',
        author_email: 'ada@example.com',
        created_on: new Date().toISOString(),
        versions: [{ version_id: version.id, percentage: 100 }],
      }));
      return { result: { deployments } };
    }
    if (rest[0] === 'versions') {
      const version = script.uploaded.find((known) => known.id === rest[1]);
      if (!version) return failure(404, 10007, 'no such version');
      const resources = { bindings: script.bindings, script: { etag: 'e' }, script_runtime: { migration_tag: version.migrationTag } };
      return { result: { id: version.id, number: 1, metadata: { created_on: new Date().toISOString(), source: 'api' }, resources } };
    }
    return undefined;
  }

  #upload(account: Account, name: string, body: Buffer, type: string, isVersion: boolean): Answer {
    const text = body.toString('latin1');
    const metadata = JSON.parse(/name="metadata"[^]*?\r\n\r\n([^]*?)\r\n--/.exec(text)?.[1] ?? '{}');
    const script = account.scripts.get(name) ?? {
      secrets: new Set<string>(),
      bindings: [],
      migrationTag: undefined,
      uploaded: [],
      versions: [],
      crons: [],
      domains: [],
    };
    for (const { type: kind, name: secret } of metadata.bindings) if (kind === 'secret_text') script.secrets.add(secret);
    script.bindings = metadata.bindings;
    script.migrationTag = metadata.migrations?.new_tag ?? script.migrationTag;
    const version = {
      id: this.#id(),
      migrationTag: script.migrationTag,
      hasSource: type.startsWith('multipart/form-data') && text.length > 100_000,
    };
    script.uploaded.push(version);
    if (!isVersion) script.versions = [version, ...script.versions];
    account.scripts.set(name, script);
    if (isVersion)
      return { result: { id: version.id, resources: { script: { etag: 'e' } }, startup_time_ms: 20, metadata: { has_preview: false } } };
    return {
      result: {
        id: version.id,
        deployment_id: version.id,
        etag: 'e',
        pipeline_hash: 'p',
        mutable_pipeline_id: 'm',
        startup_time_ms: 20,
        entry_point: 'worker.js',
        metadata: { has_preview: false },
      },
    };
  }
}

function bucket(account: Account, method: string, [, name]: string[], json: () => any): Answer {
  if (name === undefined && method === 'POST') {
    const wanted = json().name;
    if (account.buckets.has(wanted)) return failure(409, 10004, 'The bucket you tried to create already exists, and you own it.');
    account.buckets.add(wanted);
    return { result: { name: wanted } };
  }
  if (name === undefined) return { result: { buckets: [...account.buckets].map((known) => ({ name: known })) } };
  return account.buckets.has(name) ? { result: { name } } : failure(404, 10006, 'The specified bucket does not exist.');
}

function index(account: Account, method: string, [, , name, , verb]: string[], json: () => any): Answer {
  if (name === undefined && method === 'GET')
    return { result: [...account.indexes].map(([called, { config }]) => ({ name: called, config })) };
  if (name === undefined) {
    const { name: wanted, config } = json();
    if (account.indexes.has(wanted)) return failure(409, 3002, 'vectorize.index.duplicate_name');
    account.indexes.set(wanted, { config, metadata: [] });
    return { result: { name: wanted, config } };
  }
  const known = account.indexes.get(name);
  if (!known) return failure(404, 3000, 'vectorize.index_not_found');
  if (verb === 'create') known.metadata.push(json());
  if (verb === undefined) return { result: { name, config: known.config } };
  return { result: verb === 'list' ? { metadataIndexes: known.metadata } : { mutationId: 'm' } };
}

function runSql(database: DatabaseSync, sql: string, params: SQLInputValue[]): unknown[] {
  if (params.length > 0 || /^\s*(SELECT|PRAGMA)/i.test(sql)) return database.prepare(sql).all(...params);
  database.exec(sql);
  return [];
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
