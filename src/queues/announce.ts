import type { Context } from '../accounts/context.ts';
import type { EventsMessage, FanoutMessage } from './messages.ts';

// An announcement only makes what is already recorded happen sooner: a send that fails is made good by the minute tick.

export function announceEvent(context: Context, kind: EventsMessage['kind'], id: number): void {
  const message: EventsMessage = { v: 1, kind, organization_id: context.organization.id, id };
  context.defer(context.bindings.EVENTS_QUEUE.send(message));
}

export function announceContactChanges(context: Context): void {
  announce(context, { v: 1, kind: 'contact_changes', organization_id: context.organization.id });
}

export function announceCleanup(context: Context, id: number): void {
  announce(context, { v: 1, kind: 'cleanup', organization_id: context.organization.id, id });
}

export function announceAdmission(context: Context, workflowId: number): void {
  announce(context, { v: 1, kind: 'admission', organization_id: context.organization.id, workflow_id: workflowId });
}

export function announceDeletion(context: Context): void {
  announce(context, { v: 1, kind: 'deletion', organization_id: context.organization.id });
}

function announce(context: Context, message: FanoutMessage): void {
  context.defer(context.bindings.FANOUT_QUEUE.send(message));
}
