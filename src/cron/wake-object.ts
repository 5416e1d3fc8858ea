import type { Context } from '../context.ts';
import { endUnreachableRun } from '../automation-workflows/runs/lifecycle/stop-run.ts';
import { callCampaignObject } from '../campaigns/rpc.ts';
import { setStateReason } from '../campaigns/store.ts';
import type { FanoutMessage } from '../outbox/messages.ts';
import { callLoadTestObject } from '../simtest/load-tests/rpc.ts';
import { failSession } from '../simtest/sessions/store.ts';
import { callTestSessionObject } from '../simtest/sessions/rpc.ts';
import { withCallSlots } from '../calls/rpc.ts';
import { wakeStalledChat } from '../calls/text-chat/chat.ts';
import { failChat } from '../calls/text-chat/store.ts';
import { callWebhookEndpointObject } from '../webhook-endpoints/rpc.ts';
import { callRun } from '../automation-workflows/rpc.ts';

type WakeMessage = Extract<FanoutMessage, { kind: 'poke' }>;
export type StalledObject = Pick<WakeMessage, 'organization_id' | 'what' | 'id'>;

/** Wakes an object that is past its due time. Repeatable. Throws when the object cannot be reached. */
export function wakeObject(bindings: Env, { organization_id: organizationId, what, id }: StalledObject): Promise<unknown> {
  switch (what) {
    case 'run':
      return callRun(bindings, organizationId, id, (object) => object.start(organizationId, id));
    case 'campaign':
      return callCampaignObject(bindings, organizationId, id, (object) => object.wakeStalled(organizationId, id));
    case 'chat':
      return wakeStalledChat(bindings, organizationId, id);
    case 'test_session':
      return callTestSessionObject(bindings, organizationId, id, (object) => object.wakeStalled(organizationId, id));
    case 'load_test':
      return callLoadTestObject(bindings, organizationId, id, (object) => object.wakeStalled(organizationId, id));
    case 'call_slots':
      return withCallSlots(bindings, organizationId, (slots) => slots.wakeStalled());
    case 'webhook_endpoint':
      return callWebhookEndpointObject(bindings, organizationId, id, (object) => object.wake(organizationId, id));
  }
}

/** Shows in the record of an object, in `words`, that the object could not be reached for as long as the service tries. */
export async function failUnreachableObject(context: Context, { what, id }: StalledObject, words: string): Promise<void> {
  const { database, organization, clock } = context;
  switch (what) {
    case 'run':
      await endUnreachableRun(context, id, { state: 'failed', outcome: null, message: words });
      return;
    case 'campaign':
      return setStateReason(database, organization.id, id, words);
    case 'chat':
      return failChat(database, organization.id, id, words, clock());
    case 'test_session':
      return failSession(database, organization.id, id, words, clock());
    case 'load_test':
    case 'call_slots':
    case 'webhook_endpoint':
      // The rows of these kinds have no column for a reason. They are tried again, and the log has the reason.
      return;
  }
}
