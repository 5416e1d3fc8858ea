import type { TransferSettings } from '../definition/transfer-settings.ts';
import type { ConversationState } from './contract.ts';
import type { NewEvent } from './record.ts';
import { failureOf, type TransferLeg } from './transfer-leg.ts';

/** The state with a leg in the place of the one with its number. */
export const replaceLeg = ({ transfers = [] }: ConversationState, leg: TransferLeg): Pick<ConversationState, 'transfers'> => ({
  transfers: transfers.map((one) => (one.number === leg.number ? leg : one)),
});

/** The message with the summary for whoever is dialled at `dialed`; null: the summary is said. */
export function toSending({ summary, summary_to: to }: TransferSettings, dialed: string): NonNullable<TransferLeg['sending']> | null {
  return summary === 'send' ? { to: to ?? dialed, outcome: null } : null;
}

/** An event of the log about a leg. */
export const toTransferEvent = (type: string, leg: TransferLeg): NewEvent => ({
  type,
  nodeId: leg.nodeId,
  payload: {
    number: leg.number,
    to: leg.to,
    mode: leg.mode,
    is_fallback: leg.isFallback,
    ...(type === 'transfer_failed' && {
      reason: failureOf(leg),
      ...(leg.facts.ended?.detail !== undefined && { detail: leg.facts.ended.detail }),
    }),
  },
});
