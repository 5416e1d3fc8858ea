import { createHash, randomBytes } from 'node:crypto';
import type { AcceptedRow } from '../../src/contacts/import/read-contacts.ts';
import { RequestRefused } from '../local/request-with-retries.ts';
import type { Target } from '../local/request-with-retries.ts';
import { cutBatches } from './batches.ts';
import type { Failure } from './failures.ts';
import { postBatch } from './post-batch.ts';
import { showProgress } from './progress.ts';

export interface SendResult {
  created: number;
  updated: number;
  /** Rows of a person who came more than once in one request. */
  folded: number;
  isListNew: boolean;
  failures: Failure[];
}

/**
 * Sends people batch by batch. The idempotency key holds for this run only: a later import of the same file is a request of its own,
 * since contacts may have changed in between.
 */
export async function sendContacts(
  people: AcceptedRow[],
  source: { bytes: Uint8Array; listName: string; batchRows: number },
  target: Target,
): Promise<SendResult> {
  const result: SendResult = { created: 0, updated: 0, folded: 0, isListNew: false, failures: [] };
  const run = `${createHash('sha256').update(source.bytes).digest('hex').slice(0, 32)}-${randomBytes(8).toString('hex')}`;
  const progress = showProgress(people.length);
  let sent = 0;
  let stopped: string | undefined;
  let batchNumber = 0;
  for (const { body, people: batch } of cutBatches(people, source.listName, source.batchRows)) {
    batchNumber += 1;
    const fail = (person: AcceptedRow, reason: string) =>
      result.failures.push({
        row: person.file_row,
        phone: person.contact.phone ?? '',
        external_id: person.contact.external_id ?? '',
        reason,
      });
    try {
      if (stopped) throw new RequestRefused(`not sent, because ${stopped}`, true);
      const answer = await postBatch(target, body, `import-${run}-${batchNumber}`, (why, delayMs) =>
        progress.note(`Trying again in ${(delayMs / 1000).toFixed(1)} s: ${why}`),
      );
      result.created += answer.created;
      result.updated += answer.updated;
      result.folded += batch.length - answer.created - answer.updated - answer.failed;
      result.isListNew ||= answer.list_created;
      for (const { index, detail, message } of answer.errors) {
        const person = batch[index];
        if (person) fail(person, `${detail}: ${message}`);
      }
    } catch (error) {
      if (!(error instanceof RequestRefused)) throw error;
      for (const person of batch) fail(person, error.message);
      if (error.isFinal) stopped ??= error.message;
    }
    sent += batch.length;
    if (!stopped) progress.update(sent);
  }
  progress.stop();
  return result;
}
