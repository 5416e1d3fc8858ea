import { LocalError } from '../local/settings.ts';
import type { DeploymentContext } from './deployment-context.ts';

interface Deployment {
  versions: { version_id: string; percentage: number }[];
}

interface Version {
  resources?: { script_runtime?: { migration_tag?: string } };
}

/** Puts an earlier version of the Worker back. The database keeps the migrations of the later one: they only add. */
export async function rollBack(world: DeploymentContext): Promise<string> {
  const { cloudflare, account, plan, files, options, wrangler } = world;
  const script = `${account}/workers/scripts/${plan.worker}`;
  const found = await cloudflare.find<{ deployments: Deployment[] }>(`${script}/deployments`);
  const versions = [
    ...new Set((found?.deployments ?? []).flatMap((deployment) => deployment.versions.map(({ version_id }) => version_id))),
  ];
  const current = versions[0];
  const target = options.rollbackTo || versions[1];
  if (current === undefined || target === undefined) throw new LocalError(`${plan.worker} has no version before the one that is deployed.`);
  if (target === current) throw new LocalError(`${target} is the version that is deployed.`);
  const tagOf = async (id: string) => {
    const version = await cloudflare.find<Version>(`${script}/versions/${id}`);
    if (version === undefined)
      throw new LocalError(`${plan.worker} has no version ${id}. It has, the newest first: ${versions.slice(0, 10).join(', ')}`);
    return version.resources?.script_runtime?.migration_tag;
  };
  const [tagNow, tagThen] = [await tagOf(current), await tagOf(target)];
  if (tagNow !== tagThen)
    throw new LocalError(
      `Cloudflare does not roll back across a change of Durable Object classes: ${target} is from before it (migration ${tagThen ?? 'none'}), and ` +
        `${current} after it (${tagNow ?? 'none'}). Mend the fault forwards: revert the change in the code, keep [[migrations]] of wrangler.toml, and deploy.`,
    );
  await wrangler(['rollback', target, '--yes', '--message', `back from ${current}`, '--config', files.path('')]);
  return `${plan.worker} is back at ${target}; ${current} can be put back the same way. If that version knows fewer migrations than the database has, GET /health says database_newer until a later one is deployed`;
}
