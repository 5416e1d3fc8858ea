import type { Context } from '../../../context.ts';
import type { FanoutMessage } from '../../../outbox/messages.ts';
import { endRun } from './stop-run.ts';

export type RunEndMessage = Extract<FanoutMessage, { kind: 'run_end' }>;

/** Has a run ended that could not be when it was to. */
export const buildEndMessage = ({ organization }: Context, id: number, ending: RunEndMessage['ending'], why?: string): RunEndMessage => ({
  v: 1,
  kind: 'run_end',
  organization_id: organization.id,
  id,
  ending,
  ...(why !== undefined && { why }),
});

export async function retryRunEnd(context: Context, { id, ending, why }: RunEndMessage): Promise<void> {
  const error = ending.error && { node_id: null, attempt: null, ...ending.error };
  await endRun(context, id, { ...ending, error }, why);
}
