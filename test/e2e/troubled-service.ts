import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDirectory } from '../../scripts/local/settings.ts';
import { KillableService } from './killable-service.ts';

export interface Trouble {
  /** The share of D1 calls that are refused, and the share whose answers are lost. */
  refuse: number;
  lose: number;
}

/** The number of D1 calls, of refused calls and of lost answers. */
export interface TroubleCounts extends Trouble {
  calls: number;
  refused: number;
  lost: number;
}

const entry = 'main = "src/worker.ts"';

/** Written beside `wrangler.toml`, since paths in it count from there. */
function writeTroubledConfig(): string {
  const text = readFileSync(join(projectDirectory, 'wrangler.toml'), 'utf8');
  if (!text.includes(entry)) throw new Error(`wrangler.toml has no ${entry}`);
  const path = join(projectDirectory, 'wrangler.troubled.toml');
  const troubled = text.replace(entry, 'main = "test/e2e/troubled-worker.ts"');
  // A running service would restart with the changed file.
  if (!existsSync(path) || readFileSync(path, 'utf8') !== troubled) writeFileSync(path, troubled);
  return path;
}

/** A local service whose D1 is sound until `setTrouble`. */
export const createTroubledService = (
  variables: Record<string, string>,
  simulated: Record<string, string> = {},
): Promise<KillableService> => KillableService.create(variables, simulated, writeTroubledConfig());

export async function setTrouble(service: KillableService, trouble: Trouble): Promise<TroubleCounts> {
  const { status, body } = await service.call({ method: 'POST', path: `${service.origin}/__trouble`, body: trouble });
  if (status !== 200) throw new Error(`the trouble cannot be set: ${JSON.stringify(body)}`);
  return body;
}
