import type { Context } from '../../accounts/context.ts';
import type { SyncsMessage } from '../../queues/messages.ts';

export const syncMessage = ({ id, organization_id }: { id: number; organization_id: number }): SyncsMessage => ({
  v: 1,
  kind: 'sync',
  organization_id,
  id,
});

/** After the answer; a send that is lost is made good by the minute tick. */
export function announceSync({ bindings, organization, defer }: Context, id: number): void {
  defer(bindings.SYNCS_QUEUE.send(syncMessage({ id, organization_id: organization.id })));
}
