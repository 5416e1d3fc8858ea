import { join, relative } from 'node:path';
import { LocalError, projectDirectory } from '../local/settings.ts';
import { vectorIndex } from './plan.ts';
import type { DeploymentContext } from './deployment-context.ts';

/** Refuses to overwrite a Worker of this name that is another program. */
export async function checkName({ cloudflare, account, plan }: DeploymentContext): Promise<string> {
  const settings = await cloudflare.find<{ bindings?: { type: string; name: string }[] }>(
    `${account}/workers/scripts/${plan.worker}/settings`,
  );
  if (settings === undefined) return `${plan.worker} is new`;
  const bindings = settings.bindings ?? [];
  const isOurs = bindings.length === 0 || bindings.some(({ type, name }) => type === 'd1' && name === plan.databases[0]?.binding);
  if (isOurs) return `${plan.worker} is there and will be upgraded`;
  throw new LocalError(
    `The account has another Worker named ${plan.worker}. Deploy under another name: --env NAME, or change "name" in wrangler.toml.`,
  );
}

export async function ensureDatabases({ cloudflare, account, plan, databaseIds }: DeploymentContext): Promise<string> {
  const done: string[] = [];
  for (const { binding, name } of plan.databases) {
    const list = () => cloudflare.list<{ uuid: string; name: string }>(`${account}/d1/database?name=${encodeURIComponent(name)}`);
    let database = (await list()).find((found) => found.name === name);
    done.push(`${name} ${database ? 'is there' : 'created'}`);
    database ??= await cloudflare.post<{ uuid: string; name: string }>(`${account}/d1/database`, { name });
    databaseIds.set(binding, database.uuid);
  }
  return done.join(', ');
}

export async function ensureBuckets({ cloudflare, account, plan }: DeploymentContext): Promise<string> {
  const done: string[] = [];
  for (const name of plan.buckets) {
    const bucket = await cloudflare.find(`${account}/r2/buckets/${name}`);
    if (bucket === undefined) await cloudflare.post(`${account}/r2/buckets`, { name });
    done.push(`${name} ${bucket ? 'is there' : 'created'}`);
  }
  return done.join(', ');
}

interface Queue {
  queue_name: string;
  consumers?: { script?: string; script_name?: string; service?: string }[];
}

export async function ensureQueues({ cloudflare, account, plan }: DeploymentContext): Promise<string> {
  const existing = await cloudflare.list<Queue>(`${account}/queues`);
  const created: string[] = [];
  for (const name of plan.queues) {
    const queue = existing.find(({ queue_name }) => queue_name === name);
    const consumers = (queue?.consumers ?? []).map((consumer) => consumer.script ?? consumer.script_name ?? consumer.service);
    const other = consumers.find((consumer) => consumer !== undefined && consumer !== plan.worker);
    if (other !== undefined)
      throw new LocalError(
        `The queue ${name} of this account belongs to the Worker ${other}. Deploy with --env NAME, which gives the queues names of their own.`,
      );
    if (queue !== undefined) continue;
    await cloudflare.post(`${account}/queues`, { queue_name: name });
    created.push(name);
  }
  return created.length > 0 ? `created ${created.join(', ')}` : `all ${plan.queues.length} are there`;
}

interface Index {
  name: string;
  config: { dimensions: number; metric: string };
}

/** The index and what it is filtered by: a metadata index holds only vectors that are written after it. */
export async function ensureIndexes({ cloudflare, account, plan }: DeploymentContext): Promise<string> {
  const done: string[] = [];
  const path = `${account}/vectorize/v2/indexes`;
  const existing = plan.indexes.length > 0 ? await cloudflare.get<Index[]>(path) : [];
  for (const name of plan.indexes) {
    const { dimensions, metric, metadata } = vectorIndex;
    const index = existing.find((found) => found.name === name);
    if (index !== undefined && (index.config.dimensions !== dimensions || index.config.metric !== metric))
      throw new LocalError(
        `The Vectorize index ${name} has ${index.config.dimensions} dimensions and the metric ${index.config.metric}; it needs ${dimensions} and ${metric}. ` +
          'Deploy with --env NAME, or delete that index if nothing uses it.',
      );
    if (index === undefined) await cloudflare.post(path, { name, config: { dimensions, metric } });
    const { metadataIndexes = [] } = await cloudflare.get<{ metadataIndexes?: { propertyName: string }[] }>(
      `${path}/${name}/metadata_index/list`,
    );
    const missing = metadata.filter(({ propertyName }) => !metadataIndexes.some((found) => found.propertyName === propertyName));
    for (const property of missing) await cloudflare.post(`${path}/${name}/metadata_index/create`, property);
    const properties = missing.map(({ propertyName }) => propertyName);
    done.push(
      `${name} ${index ? 'is there' : 'created'}${properties.length > 0 ? `, metadata index ${properties.join(', ')} created` : ''}`,
    );
  }
  return done.join('; ') || 'none is bound';
}

/** Where the deployment will answer, and the file by which wrangler deploys it. */
export async function writeConfiguration(world: DeploymentContext): Promise<string> {
  const { plan, files, databaseIds } = world;
  world.address = await addressOf(world);
  const { configuration } = plan;
  const fromThere = (path: string) => relative(files.directory, join(projectDirectory, path));
  files.write('', {
    ...configuration,
    main: fromThere(configuration.main),
    assets: { ...configuration.assets, directory: fromThere(configuration.assets.directory) },
    vars: { PUBLIC_URL: world.address, ...configuration.vars },
    d1_databases: configuration.d1_databases.map(({ binding, database_name, migrations_dir }) => ({
      binding,
      database_name,
      database_id: databaseIds.get(binding),
      migrations_dir: fromThere(migrations_dir),
    })),
  });
  return `${files.shown('')}, for ${world.address}`;
}

async function addressOf({ cloudflare, account, plan }: DeploymentContext): Promise<string> {
  if (plan.domain !== undefined) return `https://${plan.domain}`;
  const found = await cloudflare.find<{ subdomain?: string | null }>(`${account}/workers/subdomain`);
  if (!found?.subdomain) throw new LocalError('The account has no workers.dev subdomain yet.');
  return `https://${plan.worker}.${found.subdomain}.workers.dev`;
}
