import type { z } from '@hono/zod-openapi';
import type { Context } from '../../context.ts';
import { findSuppressedPhones } from '../../contacts/suppressions/suppressions.ts';
import { isAssignable, unassignableDetail } from '../../library/phone/assignable.ts';
import { invalid } from '../../library/errors.ts';
import type { CampaignPreview, CampaignPreviewInput } from '../schemas.ts';
import type { TableColumns } from './columns.ts';
import { toSourceIssue } from './source-issue.ts';
import { CompactSeenPhones } from './seen-phones.ts';
import type { CampaignSource, CampaignSourceRow } from './campaign-source.ts';
import { checkSource } from './check-source.ts';
import { openCampaignSource } from './open-source.ts';

type Preview = z.infer<typeof CampaignPreview>;
type Counts = Pick<Preview, 'examined_rows' | 'dialable_rows' | 'duplicate_rows' | 'not_dialable'>;

const maxRowsShown = 10;
/** A file may have millions of rows; the counts of the first ones stand for the rest. */
const maxRowsExamined = 20_000;

/** Shows what a campaign with this source would read and dial, by the code that a campaign reads with. Writes nothing but the rows of a workbook. Throws as `createCampaign` does. */
export async function previewCampaign(context: Context, input: CampaignPreviewInput): Promise<Preview> {
  const { totalRows } = await checkSource(context, input);
  const { source_type, source_id, source_options } = input;
  const source = await openCampaignSource(context, { source_type, source_id, source_options: source_options ?? {} }).catch(throwUnreadable);
  try {
    const { shown, names, counts } = await examineRows(context, source);
    return {
      source_type,
      source_id,
      columns: source.columns ? toPreviewColumns(source.columns, names) : toRecordColumns(names),
      phone_column: source.columns ? toPhoneColumn(source.columns) : { name: 'phone', reason: 'The phone of each contact', others: [] },
      guessed_encoding: source.guessedEncoding?.() ?? null,
      total_rows: Math.max(totalRows, counts.examined_rows),
      ...counts,
      rows: shown,
    };
  } catch (error) {
    return throwUnreadable(error);
  } finally {
    await source.close();
  }
}

function throwUnreadable(error: unknown): never {
  throw invalid([toSourceIssue(error)]);
}

async function examineRows(context: Context, source: CampaignSource) {
  const shown: Preview['rows'] = [];
  const names = new Set<string>();
  const reasons = new Map<string, Preview['not_dialable'][number]>();
  const counts: Counts = { examined_rows: 0, dialable_rows: 0, duplicate_rows: 0, not_dialable: [] };
  for await (const rows of source.batches(new CompactSeenPhones())) {
    const suppressed = await findSuppressedPhones(
      context,
      rows.flatMap(({ state, phone }) => (state === 'pending' ? [phone] : [])),
    );
    for (const row of rows) {
      const reason = notDialableReason(row, suppressed);
      const code = reason?.split(':')[0];
      counts.examined_rows += 1;
      if (code === undefined) counts.dialable_rows += 1;
      else if (code === 'duplicate') counts.duplicate_rows += 1;
      else {
        const known = reasons.get(code) ?? {
          reason: code,
          count: 0,
          first_row_number: row.row_number,
          detail: reason!.slice(code.length + 2),
        };
        reasons.set(code, { ...known, count: known.count + 1 });
      }
      for (const name of Object.keys(row.variables)) names.add(name);
      if (shown.length < maxRowsShown) shown.push(toPreviewRow(row, reason, source.columns));
    }
    if (counts.examined_rows >= maxRowsExamined) break;
  }
  counts.not_dialable = [...reasons.values()].toSorted((one, other) => other.count - one.count);
  return { shown, names, counts };
}

/** Why a row would not be dialled: a code, a colon and a sentence; null: it would be. */
function notDialableReason({ state, phone, reason }: CampaignSourceRow, suppressed: Map<string, string>): string | null {
  if (state !== 'pending') return reason;
  if (!isAssignable(phone)) return `number_unassignable: ${unassignableDetail(phone)}`;
  const detail = suppressed.get(phone);
  return detail === undefined ? null : `suppressed: the number must not be called (${detail})`;
}

const toPreviewRow = (
  { row_number, phone, phone_column: column, contact_id, variables }: CampaignSourceRow,
  reason: string | null,
  columns: TableColumns | null,
) => ({
  row_number,
  phone,
  phone_column: columns && column !== undefined ? (columns.headers[column] ?? null) : null,
  is_dialable: reason === null,
  reason,
  contact_id,
  variables,
});

/** The columns of the table, and those right of them that the examined rows have. `names`: the variables of the rows. */
function toPreviewColumns({ headers, phones, variables, phone_variable }: TableColumns, names: Set<string>): Preview['columns'] {
  const ofPhone = names.has(phone_variable) ? phone_variable : null;
  const known = headers.map((name, index) => ({
    name,
    variable: index === phones[0] ? ofPhone : (variables.find((variable) => variable.index === index)?.name ?? null),
    is_phone: phones.includes(index),
  }));
  const isKnown = (name: string) => name === 'timezone' || known.some(({ variable }) => variable === name);
  return [...known, ...[...names].filter((name) => !isKnown(name)).map((name) => ({ name, variable: name, is_phone: false }))];
}

const toRecordColumns = (names: Set<string>): Preview['columns'] => [
  { name: 'phone', variable: null, is_phone: true },
  ...[...names].map((name) => ({ name, variable: name, is_phone: false })),
];

function toPhoneColumn({ headers, phones: [first, ...more], choice }: TableColumns): Preview['phone_column'] {
  const others = more.map((index) => headers[index]!);
  return { name: headers[first]!, reason: phoneColumnReason(choice, others.length), others };
}

function phoneColumnReason(choice: TableColumns['choice'], others: number): string {
  if (choice === 'named') return 'source_options.phone_column names it';
  if (choice === 'mapped')
    return `The field mapping of the integration has it as phone${others === 0 ? ', and no other column counts' : '; the others count where its cell cannot be dialled'}`;
  if (others === 0) return 'It is the only column whose header is a word for phone numbers';
  return `It goes first among the ${others + 1} columns of phone numbers; the others count where its cell cannot be dialled`;
}
