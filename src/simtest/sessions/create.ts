import type { Context } from '../../context.ts';
import { requireValidPairing } from '../config/pairing.ts';
import type { NewSessionInput } from '../schemas.ts';
import { insertSession, type SessionRow } from './store.ts';

/** A pending session. Throws 404 for an agent that is not there, 422 for a config that names what neither agent has. */
export async function createSession(context: Context, input: NewSessionInput): Promise<SessionRow> {
  const { actor, adversary } = await requireValidPairing(context, input);
  const session = { name: input.name, actorAgentId: actor.id, adversaryAgentId: adversary.id, config: input.config, candidate: null };
  return insertSession(context.database, context.organization.id, session, context.clock());
}
