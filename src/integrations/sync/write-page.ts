import type { Context } from '../../context.ts';
import { enforcePlanLimit } from '../../accounts/organizations/plan-limits.ts';
import { prepareUpsert, isWriteConflict, type PreparedUpsert } from '../../contacts/upsert/prepare-upsert.ts';
import { contactLimitMessage } from '../../contacts/contacts/write-errors.ts';
import type { RowFailure } from '../../contacts/upsert/resolve-existing.ts';
import type { Statement } from '../../database/client.ts';
import type { Integration } from '../contract.ts';
import { findLinks, writeLinksStatements } from './links/store.ts';
import { inboundFields, contactListName, mappedFields } from './mapped-fields.ts';
import { classifyRecords, type ClassifiedPage } from './classify-records.ts';
import { lookupKeys, toPageOutcome, toUpsertRows } from './plan-page.ts';
import type { SyncProgress, SyncError, SyncCounts } from './progress.ts';
import type { SourcePage } from './source/source.ts';
import { advanceStatement, isLeaseLost, type LeasedSync } from './leased-sync-store.ts';

const maxErrors = 20;

/** A held sync with its integration and its progress. */
export interface RunningSync {
  held: LeasedSync;
  integration: Integration;
  reading: SyncProgress;
}

/**
 * Writes a page in one batch: its contacts, their links, and the position of the next page. Null: another process has written meanwhile,
 * and nothing is written. `lease`: until when the sync is held afterwards.
 */
export async function writePage(
  context: Context,
  sync: RunningSync,
  page: SourcePage,
  { askedAt, lease }: { askedAt: number; lease: number },
): Promise<RunningSync | null> {
  const { database, organization } = context;
  const { held, integration, reading } = sync;
  const listName = contactListName(integration);
  const keys = [...new Set(page.records.flatMap((record) => ('key' in record ? [record.key] : [])))];
  const links = await findLinks(database, held, keys, { listName, reading: reading.began });
  const { defaultCountry } = organization;
  const fields = inboundFields(integration);
  const sorted = classifyRecords(page, links, { reading, fields, hasList: listName !== null, askedAt, defaultCountry });
  const contacts = await preparePageContacts(context, sync, sorted, listName);

  const after = advanceProgress(reading, page, sorted, contacts, context);
  const progress = { revision: integration.revision, reading: after, lease, askedAt };
  const linked = sorted.candidates.flatMap(({ record, link }) => (link ? [record.key] : []));
  const statements = [advanceStatement(database, held, { ...progress, keys: linked }), ...contacts.statements, ...contacts.links];
  try {
    const answers = await enforcePlanLimit(organization, () => database.batch(statements, 'read-back'));
    contacts.onWritten(answers.slice(1, 1 + contacts.statements.length));
  } catch (error) {
    if (isWriteConflict(error) || isLeaseLost(error)) return null;
    throw error;
  }
  context.log.debug('a page of a sync was written', { organization_id: organization.id, sync_id: held.id, ...after.tally });
  return { ...sync, held: { ...held, lease, pages: held.pages + 1 }, reading: after };
}

interface PageContacts extends Pick<PreparedUpsert, 'statements' | 'onWritten'>, Pick<SyncCounts, 'created' | 'updated' | 'unchanged'> {
  links: Statement[];
  /** `index` is the candidate's. */
  failures: RowFailure[];
}

async function preparePageContacts(
  context: Context,
  { held, integration, reading }: RunningSync,
  page: ClassifiedPage,
  listName: string | null,
): Promise<PageContacts> {
  const { candidates } = page;
  if (candidates.length === 0)
    return { statements: [], onWritten: () => undefined, links: [], failures: [], created: 0, updated: 0, unchanged: 0 };
  const { defaultCountry } = context.organization;
  const draft = await prepareUpsert(context, lookupKeys(candidates, defaultCountry));
  const { rows, failures } = toUpsertRows(page, draft.contacts, { fields: inboundFields(integration), defaultCountry });
  const upsert = draft.buildStatements(listName, rows);
  const { links, ...counted } = toPageOutcome(upsert.people, candidates, mappedFields(integration));
  return {
    ...counted,
    statements: upsert.statements,
    onWritten: upsert.onWritten,
    links: writeLinksStatements(context.database, held, links, reading.began),
    failures: [...failures, ...upsert.failures],
  };
}

function advanceProgress(
  reading: SyncProgress,
  { next }: SourcePage,
  sorted: ClassifiedPage,
  contacts: PageContacts,
  context: Context,
): SyncProgress {
  const { tally } = reading;
  const errors: SyncError[] = [
    ...sorted.errors,
    ...contacts.failures.flatMap(({ index, code, detail }) => {
      const error = { detail: code, message: code === 'contact_limit_reached' ? contactLimitMessage(context) : detail };
      return sorted.candidates[index]!.places.map((place) => Object.assign({}, place, error));
    }),
  ];
  const failed = new Set(contacts.failures.map(({ index }) => index));
  const missingRows = sorted.candidates.reduce((sum, candidate, index) => sum + (failed.has(index) ? 0 : candidate.missingRows), 0);
  // The contact of a refused record is still present.
  const present = [...sorted.present, ...contacts.failures.flatMap(({ index }) => sorted.candidates[index]!.link?.contactId ?? [])];
  return {
    ...reading,
    place: next,
    isRead: next === null,
    missingRows: reading.missingRows + missingRows,
    present: reading.present && new Set([...reading.present, ...present]),
    tally: {
      rowsSeen: tally.rowsSeen + sorted.rowsSeen,
      created: tally.created + contacts.created,
      updated: tally.updated + contacts.updated,
      unchanged: tally.unchanged + sorted.unchanged + contacts.unchanged,
      failed: tally.failed + errors.length,
    },
    errors: [...reading.errors, ...errors].slice(0, maxErrors),
  };
}
