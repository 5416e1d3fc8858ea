import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { backgroundContext } from '../../src/accounts/organizations/background-context.ts';
import { changeMemberships } from '../../src/contacts/lists/members.ts';
import { newOrganization, type Client } from '../support/organization.ts';

const person = fc.nat(7).map((n) => ({ phone: `+1212555010${n}`, external_id: `e${n}` }));
const listName = fc.constantFrom('A', 'B', 'a');
const pick = fc.nat(20);

const operation = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), person }),
  fc.record({ kind: fc.constant('upsert' as const), person, listName }),
  fc.record({ kind: fc.constant('bulk' as const), people: fc.array(person, { maxLength: 6 }), listName }),
  fc.record({ kind: fc.constant('delete' as const), pick }),
  fc.record({ kind: fc.constant('join' as const), pick, listName }),
  fc.record({ kind: fc.constant('leave' as const), pick, listName }),
  fc.record({ kind: fc.constant('move' as const), pick, add: fc.array(listName), remove: fc.array(listName) }),
  fc.record({ kind: fc.constant('delete list' as const), listName }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

async function perform(client: Client, organizationId: number, step: Operation): Promise<number> {
  const contacts: { id: number }[] = (await client.get('/contacts?limit=50')).body.contacts;
  const chosen = 'pick' in step && contacts.length ? contacts[step.pick % contacts.length]!.id : 1;
  const lists: { id: number; name: string }[] = (await client.get('/contacts/lists')).body.lists;
  const list = 'listName' in step ? (lists.find(({ name }) => name.toUpperCase() === step.listName.toUpperCase())?.id ?? 1) : 1;
  switch (step.kind) {
    case 'create':
      return (await client.post('/contacts', step.person)).status;
    case 'upsert':
      return (await client.post('/contacts/upsert', { list_name: step.listName, ...step.person })).status;
    case 'bulk':
      return (await client.post('/contacts/bulk-upsert', { list_name: step.listName, contacts: step.people })).status;
    case 'delete':
      return (await client.delete(`/contacts/${chosen}`)).status;
    case 'join':
      return (await client.post(`/contacts/lists/${list}/contacts`, { contact_ids: [chosen, chosen] })).status;
    case 'leave':
      return (await client.delete(`/contacts/lists/${list}/contacts/${chosen}`)).status;
    case 'move':
      await changeMemberships((await backgroundContext(env, organizationId, () => {}))!, chosen, step);
      return 200;
    case 'delete list':
      return (await client.delete(`/contacts/lists/${list}`)).status;
  }
}

test('after any operations, also at once, counters equal a count and no contact is a member twice', { tags: 'soak' }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(operation, { minLength: 1, maxLength: 4 }), { maxLength: 10 }), async (rounds) => {
      const { id, client } = await newOrganization({ maxContacts: 6 });
      for (const round of rounds) {
        const statuses = await Promise.all(round.map((step) => perform(client, id, step)));
        for (const status of statuses) expect(status).toBeLessThan(500);
      }
      const { results } = await env.DB.prepare(
        `SELECT
           (SELECT count(*) FROM contact WHERE organization_id = ?1 AND deleted_at IS NULL) AS contacts,
           coalesce((SELECT contacts_count FROM organization_usage WHERE organization_id = ?1), 0) AS counted,
           (SELECT count(DISTINCT phone) FROM contact WHERE organization_id = ?1 AND deleted_at IS NULL) AS phones,
           (SELECT count(*) FROM contact_list_member m JOIN contact c ON c.id = m.contact_id WHERE c.organization_id = ?1 AND c.deleted_at IS NOT NULL) AS ghosts,
           (SELECT count(*) FROM contact_list l WHERE l.organization_id = ?1 AND l.deleted_at IS NULL
             AND l.contacts_count <> (SELECT count(*) FROM contact_list_member m WHERE m.list_id = l.id)) AS miscounted`,
      )
        .bind(id)
        .all<Record<string, number>>();
      const [counts] = results;
      expect(counts!.counted).toBe(counts!.contacts);
      expect(counts!.phones).toBe(counts!.contacts);
      expect(counts!.contacts).toBeLessThanOrEqual(6);
      expect([counts!.ghosts, counts!.miscounted]).toEqual([0, 0]);
    }),
    { numRuns: 25 },
  );
});
