import { americanNumber } from '../support/american-numbers.ts';

/** What comes of calling somebody, by the last four digits of the number. A plain person answers and talks. */
const endings = {
  busy: '0001',
  no_answer: '0002',
  failed: '0003',
  voicemail: '0004',
  first_post_fails: '0005',
  answer_lost: '0006',
  hangs_up: '0007',
  disordered: '0008',
  end_untold: '0009',
  person: '5550',
} as const;

export type Kind = keyof typeof endings | 'suppressed' | 'duplicate' | 'bad_phone';

/** One row of a campaign's file, and who answers. */
export interface Person {
  rowNumber: number;
  kind: Kind;
  /** The phone number as the file has it. */
  phone: string;
  firstName: string;
}

/** The number of people of each kind; all others answer and talk. */
export type Mix = Partial<Record<Exclude<Kind, 'person'>, number>>;

/** `count` rows in random order. The first row is a person who answers and talks, and all duplicates repeat this person. */
export function peopleOf(count: number, mix: Mix, random: () => number): Person[] {
  const special = Object.entries(mix).flatMap(([kind, many]) => Array.from({ length: many }, () => kind as Kind));
  const kinds: Kind[] = [...special, ...Array.from({ length: count - special.length - 1 }, (): Kind => 'person')];
  const placed = kinds.map((kind) => ({ kind, place: random() })).toSorted((one, other) => one.place - other.place);
  return [{ kind: 'person' as const }, ...placed].map(({ kind }, index) => ({
    rowNumber: index + 1,
    kind,
    phone: phoneOf(kind, index),
    firstName: `Person ${index + 1}`,
  }));
}

function phoneOf(kind: Kind, index: number): string {
  if (kind === 'bad_phone') return `${index} times`;
  if (kind === 'duplicate') return americanNumber(0, endings.person);
  return americanNumber(index, kind === 'suppressed' ? endings.person : endings[kind]);
}

export const csvOf = (people: readonly Person[]): string =>
  ['Phone Number,First name', ...people.map(({ phone, firstName }) => `${phone},${firstName}`)].join('\r\n');
