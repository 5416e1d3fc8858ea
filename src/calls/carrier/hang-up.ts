import type { Context } from '../../context.ts';
import { ServiceError } from '../../library/errors.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';

/** Ends a line by command. Throws when the carrier does not do it, so that it tells again what made us want it. */
export async function hangUp({ log }: Context, { telephony }: Carrier, callId: string): Promise<void> {
  const result = await telephony.hangUp(callId);
  if (!('failure' in result)) return;
  log.error('a call could not be ended', new Error(result.failure), { call_id: callId });
  throw new ServiceError('provider_failed', 'The carrier did not end the call; send this again');
}
