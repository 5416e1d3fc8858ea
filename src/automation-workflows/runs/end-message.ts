import type { Context } from '../../accounts/context.ts';
import type { FanoutMessage } from '../../queues/messages.ts';
import { endRun } from './stop.ts';

export type EndMessage = Extract<FanoutMessage, { kind: 'run_end' }>;

/** Has a run ended that could not be when it was to. */
export const endMessage = ({ organization }: Context, id: number, ending: EndMessage['ending'], why?: string): EndMessage => ({
  v: 1,
  kind: 'run_end',
  organization_id: organization.id,
  id,
  ending,
  ...(why !== undefined && { why }),
});

export async function endAgain(context: Context, { id, ending, why }: EndMessage): Promise<void> {
  const error = ending.error && { node_id: null, attempt: null, ...ending.error };
  await endRun(context, id, { ...ending, error }, why);
}
