const firstNames = [
  'Ada',
  'Grace',
  'Alan',
  'Edsger',
  'Barbara',
  'Donald',
  'Frances',
  'Ken',
  'Radia',
  'Leslie',
  'Margaret',
  'Niklaus',
  'Sophie',
];
const lastNames = [
  'Lovelace',
  'Hopper',
  'Turing',
  'Dijkstra',
  'Liskov',
  'Knuth',
  'Allen',
  'Thompson',
  'Perlman',
  'Lamport',
  'Hamilton',
  'Wirth',
];
const companies = [
  'Analytical Engines Ltd',
  'Northwind Traders',
  'Contoso',
  'Fabrikam',
  'Blue Yonder',
  'Tailspin Toys',
  'Wide World Importers',
];
const tiers = ['gold', 'silver', 'bronze'];

/** A possible US number of the person with this number, from 0 on. */
export const phoneOf = (number: number) => `+1212${2_000_000 + number}`;

export const toExternalId = (number: number) => `crm-${number}`;

/** A person as a CRM exports one; each number is another. */
export function createPerson(number: number) {
  const of = (list: string[]) => list[number % list.length]!;
  const first_name = of(firstNames);
  const last_name = of(lastNames);
  return {
    phone: phoneOf(number),
    external_id: toExternalId(number),
    email: `${first_name}.${last_name}.${number}@example.com`.toLowerCase(),
    first_name,
    last_name,
    company: of(companies),
    tags: ['newsletter', of(tiers)],
    custom_fields: { tier: of(tiers), lifetime_value: (number * 37) % 5000, city: 'New York' },
  };
}
