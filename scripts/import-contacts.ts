import { readFileSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { readContacts, type ContactTable, type AcceptedRow } from '../src/contacts/import/read-contacts.ts';
import { UncertainEncoding, UnreadableFileError } from '../src/library/text/unreadable-file.ts';
import { listSheetNames } from '../src/library/workbooks/sheet-names.ts';
import { readImportSettings, usage, type ImportSettings } from './import-contacts/arguments.ts';
import { openPeopleFile } from './import-contacts/open-people-file.ts';
import { writeFailures, type Failure } from './import-contacts/failures.ts';
import { sendContacts } from './import-contacts/send-contacts.ts';
import type { Target } from './local/request-with-retries.ts';
import { LocalError } from './local/settings.ts';

const failuresShown = 10;

/** Exit codes: 0 every row imported, 1 some rows failed, 2 the call or the file is wrong. */
async function main(): Promise<number> {
  if (process.argv.includes('--help')) {
    console.log(usage);
    return 0;
  }
  const settings = readImportSettings(process.argv.slice(2), process.env);
  const bytes = readBytes(settings.file);
  const { target } = settings;
  const defaultCountry = settings.defaultCountry ?? (target ? await organizationCountry(target) : undefined) ?? 'US';
  const { people, failures } = await readFile(settings, bytes, defaultCountry);

  if (target === null) {
    console.log(`Dry run: ${people.length} rows would be sent to the list "${settings.listName}", ${failures.length} rows cannot be.`);
  } else if (people.length > 0) {
    const result = await sendContacts(people, { bytes, listName: settings.listName, batchRows: settings.batchRows }, target);
    failures.push(...result.failures);
    const { created, updated, folded, isListNew } = result;
    console.log(
      `${created} created, ${updated} updated, ${failures.length} failed, ${folded} folded into an earlier row of the same person.`,
    );
    if (isListNew) console.log(`The list "${settings.listName}" is new.`);
  } else {
    console.log(`Nothing to send: 0 created, 0 updated, ${failures.length} failed, 0 folded.`);
  }
  report(failures, settings);
  return failures.length > 0 ? 1 : 0;
}

function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = { ENOENT: 'there is no such file', EISDIR: 'it is a folder', EACCES: 'reading it is not permitted' }[code ?? ''] ?? message;
    throw new LocalError(`${file} cannot be read: ${why}.`);
  }
}

/** Undefined when the service does not say. A refused key is said at once, not after the file has been read. */
async function organizationCountry({ baseUrl, apiKey }: Target): Promise<string | undefined> {
  try {
    const response = await fetch(`${baseUrl}/organizations/current`, {
      headers: { 'x-api-key': apiKey },
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status === 401) throw new LocalError(`${baseUrl} refuses the API key. Give a good one with --api-key or API_KEY.`);
    return response.ok ? ((await response.json()) as { default_country?: string }).default_country : undefined;
  } catch (error) {
    if (error instanceof LocalError) throw error;
    return undefined;
  }
}

async function readFile(
  { file, encoding, sheet, phoneColumn }: ImportSettings,
  bytes: Uint8Array,
  defaultCountry: string,
): Promise<{ people: AcceptedRow[]; failures: Failure[] }> {
  let place = file;
  let advice = '';
  try {
    const { table, description, sheets } = await openPeopleFile(bytes, { encoding, sheet, phoneColumn });
    if (sheets.length > 0) {
      place = `${file}, ${description}`;
      advice = `. The sheets of the workbook are: ${listSheetNames(sheets)}; --sheet names the one to read`;
    }
    const found = readContacts(table, defaultCountry, phoneColumn);
    const people: AcceptedRow[] = [];
    const failures: Failure[] = [];
    for await (const row of found.rows) {
      if ('contact' in row) people.push(row);
      else failures.push({ row: row.file_row, phone: row.refused.phone, external_id: row.refused.external_id, reason: row.refused.detail });
    }
    console.log(`${basename(file)}: ${people.length + failures.length} rows (${description}). ${describeColumns(found, defaultCountry)}`);
    warnOfIds(people);
    return { people, failures };
  } catch (error) {
    if (error instanceof UncertainEncoding)
      throw new LocalError(`${file}: ${error.message.replace('name it in "encoding"', 'name it with --encoding')}.`);
    if (error instanceof UnreadableFileError) {
      // Most bytes mean something in a wrong encoding, too: then the headers are other words.
      const readAs =
        encoding === undefined ? '' : `. It was read as ${encoding}, which --encoding names; leave that out if the words are wrong`;
      throw new LocalError(`${place}: ${error.message}${advice}${readAs}.`);
    }
    throw error;
  }
}

function warnOfIds(people: AcceptedRow[]): void {
  const damaged = people.filter((person) => person.unusable_id !== undefined);
  const [first] = damaged;
  if (first)
    console.error(`${damaged.length} ids cannot be told apart and are left out, such as "${first.unusable_id}" in row ${first.file_row}.`);
}

/** Several phone columns are listed in the order in which each row's cells are tried. */
function describeColumns({ phone_columns, field_columns }: ContactTable, defaultCountry: string): string {
  const others = Object.entries(field_columns).map(([field, header]) => `${field} from "${header}"`);
  const columns = phone_columns.map((header) => `"${header}"`).join(', then ');
  const phone = columns === '' ? 'No phone column' : `phone from ${columns} (${defaultCountry} where it names no country)`;
  return `${[phone, ...others].join(', ')}.`;
}

function report(failures: Failure[], { errorsFile, isErrorsFileAsked }: ImportSettings): void {
  if (failures.length === 0) {
    if (isErrorsFileAsked) writeFailures(errorsFile, []);
    else rmSync(errorsFile, { force: true });
    return;
  }
  for (const { row, reason } of failures.slice(0, failuresShown)) console.error(`Row ${row}: ${reason}`);
  if (failures.length > failuresShown) console.error(`... and ${failures.length - failuresShown} more.`);
  writeFailures(errorsFile, failures);
  console.error(`The rows that failed are in ${errorsFile}.`);
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof LocalError)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
