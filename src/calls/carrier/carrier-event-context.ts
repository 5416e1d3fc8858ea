import type { Context } from '../../context.ts';
import type { CallEvent } from '../../providers/telephony/carrier-events.ts';
import type { Carrier } from '../../telephony-configs/load-carrier.ts';
import { withCallObject } from '../live-call/call-object.ts';
import type { CallAddress } from './callback-urls.ts';

/** What a carrier has told of the line of one call. */
export interface CarrierEventContext {
  context: Context;
  carrier: Carrier;
  address: CallAddress;
  event: CallEvent;
}

/** Asks the object of the call. */
export const withEventCallObject = <Answer>(
  { context, address }: Pick<CarrierEventContext, 'context' | 'address'>,
  question: Parameters<typeof withCallObject<Answer>>[3],
): Promise<Answer> => withCallObject(context.bindings, context.organization.id, address.runId, question);
