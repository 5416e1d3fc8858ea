import type { Candidate, UnchangedRow } from './candidate.ts';
import { foldRows } from './rows-of-person.ts';

/** The values that a candidate changes its contact to, and those that they are compared with. */
export interface Comparison {
  values: Record<string, string>;
  seen: Record<string, string> | null;
}

interface Member extends Comparison {
  row: number;
  key: string;
  candidate: Candidate | null;
}

/**
 * What the candidates of one contact change, where its rows have different keys, such as an id and a phone. All its rows on the page are folded
 * in their order, as a bulk upsert folds them, so that an earlier row that has changed does not replace the values of a later one. The first
 * candidate has the change of all. `contactIdOf`: null for a candidate of a new contact or of an unclear one, which stands alone.
 */
export function foldPeople(
  candidates: Candidate[],
  unchanged: UnchangedRow[],
  contactIdOf: (candidate: Candidate) => number | null,
): Map<Candidate, Comparison> {
  const people = new Map<number, Member[]>();
  const add = (contactId: number, member: Member) => people.set(contactId, [...(people.get(contactId) ?? []), member]);
  for (const candidate of candidates) {
    const { record, link } = candidate;
    const contactId = contactIdOf(candidate);
    if (contactId !== null && 'row' in record.place)
      add(contactId, { row: record.place.row, key: record.key, values: record.values, seen: link?.seen ?? {}, candidate });
  }
  for (const { row, key, contactId, values } of unchanged)
    if (people.has(contactId)) add(contactId, { row, key, values, seen: values, candidate: null });

  const folded = new Map<Candidate, Comparison>();
  for (const members of people.values()) {
    if (new Set(members.map(({ key }) => key)).size < 2) continue;
    const inOrder = members.toSorted((one, other) => one.row - other.row);
    const [first, ...others] = inOrder.flatMap(({ candidate }) => candidate ?? []);
    folded.set(first!, { values: foldRows(inOrder.map(({ values }) => values)), seen: foldRows(inOrder.map(({ seen }) => seen ?? {})) });
    for (const other of others) folded.set(other, { values: {}, seen: {} });
  }
  return folded;
}
