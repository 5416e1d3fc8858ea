import { deliver } from './background.ts';
import { ownRows } from './own-rows.ts';

const dayMs = 86_400_000;

interface FailedMessage {
  key: string;
  message: string;
  tries: number;
  reason: string | null;
  next_try_at: number;
  first_failed_at: number;
}

export const readFailedMessages = async (organizationId: number): Promise<FailedMessage[]> =>
  (await ownRows.prepare('SELECT * FROM failed_message WHERE organization_id = ? ORDER BY key').bind(organizationId).all<FailedMessage>())
    .results;

/** Lets failed messages fail again after a day, so that they are given up. */
export async function exhaustFailedMessages(organizationId: number): Promise<void> {
  await ownRows
    .prepare('UPDATE failed_message SET first_failed_at = ? WHERE organization_id = ?')
    .bind(Date.now() - dayMs, organizationId)
    .run();
  const failed = await readFailedMessages(organizationId);
  await deliver(
    'fanout-dead',
    failed.map(({ message }) => JSON.parse(message) as unknown),
  );
}
