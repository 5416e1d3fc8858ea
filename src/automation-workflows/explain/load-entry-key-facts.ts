import type { Context } from '../../context.ts';
import { loadAdmissionFacts, type AdmissionFacts } from '../runs/admission/store.ts';

/** What decides about each entry key. The key null is always asked for, and stands for a run without one. */
export async function loadEntryKeyFacts(
  { database, organization }: Context,
  run: { workflowId: number; contactId: number; limitsReentry: boolean },
  keys: (string | null)[],
): Promise<Map<string | null, AdmissionFacts>> {
  const asked = [...new Set([null, ...keys])];
  const found = await loadAdmissionFacts(
    database,
    organization.id,
    asked.map((key, index) => ({
      dedup_key: String(index),
      workflow_id: run.workflowId,
      trigger_id: null,
      // Without a rule of re-entry nobody asks for earlier runs, and a contact may have many.
      contact_id: run.limitsReentry && key !== null ? run.contactId : null,
      entry_key: key,
      depth: 0,
    })),
  );
  return new Map(found.map((facts) => [asked[Number(facts.dedup_key)]!, facts]));
}
