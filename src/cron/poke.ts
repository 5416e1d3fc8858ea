import type { Context } from '../accounts/context.ts';
import { callRun } from '../automation-workflows/runs/launch.ts';
import { endUnreachable } from '../automation-workflows/runs/stop.ts';
import { campaignObject } from '../campaigns/campaign-object.ts';
import { noteStateReason } from '../campaigns/store.ts';
import type { FanoutMessage } from '../queues/messages.ts';
import { loadTestObject } from '../simtest/load-test-object.ts';
import { failSession } from '../simtest/store.ts';
import { testSessionObject } from '../simtest/test-session-object.ts';
import { callSlots } from '../voice-agents/dialing/slots.ts';
import { pokeChat } from '../voice-agents/text-chat/poke-chat.ts';
import { failChat } from '../voice-agents/text-chat/store.ts';

export type PokeMessage = Extract<FanoutMessage, { kind: 'poke' }>;
export type Poked = Pick<PokeMessage, 'organization_id' | 'what' | 'id'>;

/** Wakes an object that should have done something. Repeatable; throws when it cannot be reached. */
export function poke(bindings: Env, { organization_id: organizationId, what, id }: Poked): Promise<unknown> {
  switch (what) {
    case 'run':
      return callRun(bindings, organizationId, id, (object) => object.start(organizationId, id));
    case 'campaign':
      return campaignObject(bindings, organizationId, id, (object) => object.poke(organizationId, id));
    case 'chat':
      return pokeChat(bindings, organizationId, id);
    case 'test_session':
      return testSessionObject(bindings, organizationId, id, (object) => object.poke(organizationId, id));
    case 'load_test':
      return loadTestObject(bindings, organizationId, id, (object) => object.poke(organizationId, id));
    case 'call_slots':
      return callSlots(bindings, organizationId, (slots) => slots.poke());
  }
}

/** What a person sees of an object that could not be reached for as long as the service tries. */
export async function giveUpPoke(context: Context, { what, id }: Poked, words: string): Promise<void> {
  const { database, organization, clock } = context;
  switch (what) {
    case 'run':
      await endUnreachable(context, id, { state: 'failed', outcome: null, message: words });
      return;
    case 'campaign':
      return noteStateReason(database, organization.id, id, words);
    case 'chat':
      return failChat(database, organization.id, id, words, clock());
    case 'test_session':
      return failSession(database, organization.id, id, words, clock());
    case 'load_test':
    case 'call_slots':
      // Their rows have no place for a reason. They are tried on, and the log tells it.
      return;
  }
}
