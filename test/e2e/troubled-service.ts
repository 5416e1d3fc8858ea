import { toSourceWorker, writeConfigVariant } from '../../scripts/local/config-variant.ts';
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

const writeTroubledConfig = (): string => writeConfigVariant('troubled', (text) => toSourceWorker(text, 'test/e2e/troubled-worker.ts'));

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
