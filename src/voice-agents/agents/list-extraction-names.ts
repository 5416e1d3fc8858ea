import type { Context } from '../../context.ts';
import { findExtractionNames } from './extraction-names-store.ts';

/**
 * The names of the variables that calls of an agent extract which were dialled between `from` and `to` (epoch ms), in the order of its
 * definitions. One D1 call.
 */
export const listExtractionNames = (
  { database, organization }: Context,
  agentId: number,
  period: { from: number; to: number },
): Promise<string[]> => findExtractionNames(database, organization.id, agentId, period);
