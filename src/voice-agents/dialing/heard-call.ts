import type { Context } from '../../accounts/context.ts';
import type { LineEvent } from '../../providers/telephony/carrier-events.ts';
import type { Carrier } from '../telephony-configs/carrier-of.ts';
import { callObject } from '../runs/call-object.ts';
import type { CallAddress } from './callback-urls.ts';

/** What a carrier has told of the line of one call. */
export interface HeardCall {
  context: Context;
  carrier: Carrier;
  address: CallAddress;
  event: LineEvent;
}

/** Asks the object of the call. */
export const askTalk = <Answer>(
  { context, address }: Pick<HeardCall, 'context' | 'address'>,
  question: Parameters<typeof callObject<Answer>>[3],
): Promise<Answer> => callObject(context.bindings, context.organization.id, address.runId, question);
