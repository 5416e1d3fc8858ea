import { LocalError } from '../local/settings.ts';
import { Cloudflare } from './cloudflare.ts';
import type { DeploymentContext } from './deployment-context.ts';

/** Finds the credentials that wrangler has, and the account that they are for. */
export async function signIn(world: DeploymentContext): Promise<string> {
  world.cloudflare = new Cloudflare(await findToken(world), world.environment, world.send);
  const accounts = await world.cloudflare.list<{ id: string; name: string }>('/accounts');
  const wanted = world.environment.CLOUDFLARE_ACCOUNT_ID;
  const account = wanted ? accounts.find(({ id }) => id === wanted) : accounts[0];
  const listed = accounts.map(({ id, name }) => `  ${id}  ${name}`).join('\n');
  if (wanted && account === undefined)
    throw new LocalError(`CLOUDFLARE_ACCOUNT_ID is ${wanted}, which this login may not use. It may use:\n${listed || '  none'}`);
  if (account === undefined) throw new LocalError('This login may use no account. Give the token the permission Account Settings: Read.');
  if (!wanted && accounts.length > 1)
    throw new LocalError(`This login may use several accounts. Set CLOUDFLARE_ACCOUNT_ID to one of:\n${listed}`);
  const before = world.files.read<{ account_id?: string }>('')?.account_id;
  if (before !== undefined && before !== account.id)
    throw new LocalError(
      `${world.plan.environment} was deployed to the account ${before}, and this login is for ${account.id} (${account.name}). ` +
        `Log in as the former, or deploy here under another --env. To leave the former for good, delete ${world.files.shown('')}.`,
    );
  world.account = `/accounts/${account.id}`;
  world.plan.configuration.account_id = account.id;
  return `account ${account.name}`;
}

async function findToken({ environment, wrangler }: DeploymentContext): Promise<string> {
  if (environment.CLOUDFLARE_API_TOKEN) return environment.CLOUDFLARE_API_TOKEN;
  const output = await wrangler(['auth', 'token', '--json']).catch((error: unknown) => {
    throw new LocalError(`Nobody is logged in to Cloudflare: ${error instanceof Error ? error.message : String(error)}`);
  });
  const { token } = JSON.parse(output.slice(output.indexOf('{'))) as { token?: string };
  if (!token) throw new LocalError('Nobody is logged in to Cloudflare, or by a global API key, which is not used here.');
  return token;
}
