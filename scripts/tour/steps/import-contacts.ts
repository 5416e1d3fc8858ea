import { readContacts, type AcceptedRow } from '../../../src/contacts/import/read-contacts.ts';
import { readTable } from '../../../src/library/delimited-text/read-table.ts';
import { decodeText } from '../../../src/library/text/decode-text.ts';
import { sendContacts } from '../../import-contacts/send-contacts.ts';
import { LocalError } from '../../local/settings.ts';
import { readExampleBytes } from '../examples.ts';
import type { Tour, TourStep } from '../step.ts';

const listName = 'Tour customers';
const batchRows = 1000;

/** The same reading and sending as `npm run import-contacts`. */
export const importContacts: TourStep = {
  title: "Import a shop's customers from examples/contacts.csv",
  operation: 'POST /contacts/bulk-upsert',
  async run(tour) {
    const bytes = readExampleBytes('contacts.csv');
    const { rows, phone_columns } = readContacts(await readTable(decodeText(bytes).text), tour.organization.default_country);
    const people: AcceptedRow[] = [];
    for await (const row of rows) {
      if ('contact' in row) people.push(row);
      else tour.say(`Row ${row.file_row} cannot be used: ${row.refused.detail}`);
    }
    tour.say(
      `${people.length} rows with a phone from "${phone_columns.join('", "')}"; numbers without country code are read as ${tour.organization.default_country}`,
    );
    const target = { baseUrl: tour.baseUrl, apiKey: tour.apiKey };
    const { created, updated, folded, failures, isListNew } = await sendContacts(people, { bytes, listName, batchRows }, target);
    const [failure] = failures;
    if (failure) throw new LocalError(`row ${failure.row} was not imported: ${failure.reason}`);
    tour.say(`${created} contacts are new, ${updated} were known, ${folded} row was a second row of the same person`);
    await showList(tour, isListNew);
  },
};

async function showList({ service, baseUrl, say }: Tour, isNew: boolean): Promise<void> {
  const { lists } = await service.get<{ lists: { id: number; name: string; contacts_count: number }[] }>(
    `/contacts/lists?search=${encodeURIComponent(listName)}`,
  );
  const list = lists.find(({ name }) => name === listName);
  if (!list) throw new LocalError(`the list "${listName}" is not there after the import`);
  say(`The list "${list.name}" ${isNew ? 'is new' : 'was there'} and has ${list.contacts_count} contacts`);
  say(`${baseUrl}/contacts/lists/${list.id}/contacts`);
}
