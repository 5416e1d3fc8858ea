import type { Context } from '../../accounts/context.ts';
import { callObject } from '../runs/call-object.ts';
import { refusedChat } from './refused-chat.ts';

/** Ends a chat; the run is completed when this answers, unless the language model does not answer. Repeatable. Throws 404 and 409. */
export async function endChat({ bindings, organization }: Context, agentId: number, runId: number): Promise<void> {
  const { refusal } = await callObject(bindings, organization.id, runId, (object) => object.endChat(organization.id, runId));
  if (refusal && refusal.refused !== 'completed') throw refusedChat(refusal, agentId);
}
