import type { StuckItem } from './kinds.ts';

/** What a person does about a thing that stands still, in a sentence. */
export function whatToDo({ kind, key, state, workflow_id: workflowId }: StuckItem): string {
  switch (kind) {
    case 'event':
    case 'delivery':
      return 'Remove the cause that `why` names, then retry: it is handled as a new one, and nothing that it has started before starts twice';
    case 'schedule_fire':
      return 'Remove the cause, then retry: the firing goes on with the members of its audience that it has not reached';
    case 'cleanup':
      return 'Remove the cause, then retry: the rest of what was deleted or changed is worked off';
    case 'retrying':
      return 'It is tried again by itself, at next_try_at; retry has it tried at once';
    case 'run':
      return `Retry: the run goes on from the node where it failed. GET /automation-workflows/runs/${key} has its error`;
    case 'journey':
      return state === 'paused'
        ? `PATCH /automation-workflows/${workflowId} with {"status": "active"} lets its runs go on`
        : 'Its runs start when others end; raise settings.max_active_runs, or retry to have free places given out at once';
    case 'trigger':
      return `PATCH /automation-workflows/triggers/${key} changes its config; retry saves it anew as it is, so that a stopped schedule fires again`;
    case 'campaign':
      return state === 'failed'
        ? 'Its source could not be read: correct the source, and create a campaign from it'
        : 'Remove the cause that `why` names, then retry: a paused campaign is resumed, and one that cannot be reached is woken';
    case 'call':
      return 'It is looked at again by itself, at next_try_at; retry has the carrier asked at once. It is never dialled again for this attempt';
    case 'document':
      return 'Remove the cause, or upload another file; retry processes the same file again';
    case 'integration':
      return state === 'disconnected'
        ? 'Connect the tool again'
        : 'Remove the cause that `why` names, then retry: a data source is read anew';
    case 'webhook_endpoint':
      return state === 'disabled'
        ? 'Mend the receiver, then retry: the endpoint is resumed, and what waits is sent'
        : 'It is tried again by itself; retry sends what is due at once';
  }
}

/** Whether `POST /operations/stuck/{id}/retry` can do something about it. */
export const canRetry = ({ kind, state }: Pick<StuckItem, 'kind' | 'state'>): boolean =>
  !(kind === 'journey' && state === 'paused') &&
  !(kind === 'campaign' && state === 'failed') &&
  !(kind === 'integration' && state === 'disconnected');
