import type { Context } from '../../context.ts';
import type { SyncsMessage } from '../../outbox/messages.ts';

export const toSyncMessage = ({ id, organization_id }: { id: number; organization_id: number }): SyncsMessage => ({
  v: 1,
  kind: 'sync',
  organization_id,
  id,
});

/** After the answer; a send that is lost is made good by the minute tick. */
export function enqueueSync({ bindings, organization, defer }: Context, id: number): void {
  defer(bindings.SYNCS_QUEUE.send(toSyncMessage({ id, organization_id: organization.id })));
}
