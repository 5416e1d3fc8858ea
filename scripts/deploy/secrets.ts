import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { LocalError } from '../local/settings.ts';
import { askDatabase } from './first-organization.ts';
import type { DeploymentContext } from './deployment-context.ts';

export const requiredSecrets = ['ENCRYPTION_KEY', 'SIGNING_KEY'] as const;
type Secrets = Partial<Record<(typeof requiredSecrets)[number], string>>;

/**
 * Makes the secrets that the Worker lacks, for the deployment to set. One that it has is never overwritten: what was encrypted under it could
 * no longer be read. Each is written to a file first, so that a deployment that breaks off goes on with the same.
 */
export async function prepareSecrets(world: DeploymentContext): Promise<string> {
  const { cloudflare, account, plan, files, environment } = world;
  rmSync(files.path('new-secrets'), { force: true });
  const set = await cloudflare.find<{ name: string }[]>(`${account}/workers/scripts/${plan.worker}/secrets`);
  const missing = requiredSecrets.filter((name) => !set?.some((secret) => secret.name === name));
  if (missing.length === 0) return 'both are set and stay as they are';
  const stored = files.read<Secrets>('secrets') ?? {};
  const given = (name: (typeof requiredSecrets)[number]) => environment[name] || stored[name];
  if (missing.includes('ENCRYPTION_KEY') && !given('ENCRYPTION_KEY') && (await hasOrganizations(world)))
    throw new LocalError(
      'The database has organizations whose secrets are encrypted, and the Worker has no ENCRYPTION_KEY. A new one could not read them: ' +
        'set the variable ENCRYPTION_KEY to the one that you kept.',
    );
  const secrets = Object.fromEntries(missing.map((name) => [name, given(name) ?? randomBytes(32).toString('base64')]));
  files.write('secrets', { ...stored, ...secrets });
  files.write('new-secrets', secrets);
  return `${missing.join(' and ')} made, kept in ${files.shown('secrets')}`;
}

async function hasOrganizations(world: DeploymentContext): Promise<boolean> {
  try {
    const [row] = await askDatabase<{ count: number }>(world, 'SELECT count(*) AS count FROM organization');
    return (row?.count ?? 0) > 0;
  } catch (error) {
    if (String((error as Error).message).includes('no such table')) return false;
    throw error;
  }
}
