import { callDurableObject } from '../library/platform/call-durable-object.ts';

/** The RPC surface of a webhook endpoint's object, which is named `{organization_id}/{endpoint_id}`. Every method may be called again. */
export interface WebhookEndpointRpc {
  /** Has the object look at once for messages that are due. */
  wake(organizationId: number, endpointId: number): Promise<void>;
  /** The organization is being deleted: the object forgets everything that it has. */
  deleteAllData(): Promise<void>;
}

/** Calls a webhook endpoint's object, and calls again when the call broke. */
export const callWebhookEndpointObject = <Answer>(
  bindings: Env,
  organizationId: number,
  endpointId: number,
  call: (object: WebhookEndpointRpc) => Promise<Answer>,
): Promise<Answer> =>
  callDurableObject(() => bindings.WEBHOOK_ENDPOINT.getByName(`${organizationId}/${endpointId}`) as unknown as WebhookEndpointRpc, call);
