import type { AcceptedRow } from '../../src/contacts/import/read-contacts.ts';

/** `body` is the JSON of the request; `people` are its contacts, in the same order. */
export interface Batch {
  body: string;
  people: AcceptedRow[];
}

/** Under the 16 MiB that the service takes, with room for the list name. */
const batchBytes = 15 * 1024 * 1024;

/** Cuts people into requests of at most `maxRows` and `maxBytes`. A person larger than that travels alone, for the service to refuse. */
export function* cutBatches(people: AcceptedRow[], listName: string, maxRows: number, maxBytes = batchBytes): Generator<Batch> {
  let rows: { person: AcceptedRow; json: string }[] = [];
  let bytes = 0;
  const finished = (): Batch => ({
    body: `{"list_name":${JSON.stringify(listName)},"contacts":[${rows.map(({ json }) => json).join(',')}]}`,
    people: rows.map(({ person }) => person),
  });
  for (const person of people) {
    const json = JSON.stringify(person.contact);
    const size = Buffer.byteLength(json) + 1;
    if (rows.length === maxRows || (rows.length > 0 && bytes + size > maxBytes)) {
      yield finished();
      rows = [];
      bytes = 0;
    }
    rows.push({ person, json });
    bytes += size;
  }
  if (rows.length > 0) yield finished();
}
