import { env } from 'cloudflare:workers';
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { copyRows, type RowKey } from '../../src/cron/move-organization/copy-rows.ts';
import type { MoveEnds } from '../../src/cron/move-organization/ends.ts';
import { findKeysAfter } from '../../src/cron/move-organization/find-keys.ts';
import { beginTransit } from '../../src/cron/move-organization/hold.ts';
import { copiedTables } from '../../src/cron/move-organization/moved-tables.ts';
import { replayChanges } from '../../src/cron/move-organization/replay.ts';
import { dropTriggers, installTriggers } from '../../src/cron/move-organization/triggers.ts';
import { anchorShard } from '../../src/database/shard-anchors.ts';
import { shards } from '../../src/database/shards.ts';
import { comparable, first, rowsOf, second } from '../support/moves.ts';
import { insertRow } from '../support/insert-row.ts';
import { newOrganization } from '../support/organization.ts';

beforeAll(() => anchorShard(shards(env)[1]!, 1));

/** An organization between two shards, whose changes are noted. */
async function between(fill: (id: number) => Promise<unknown> = async () => {}): Promise<MoveEnds> {
  const { id } = await newOrganization({ shard: 0 });
  await fill(id);
  const [source, target] = shards(env) as [MoveEnds['source'], MoveEnds['target']];
  const ends = { organizationId: id, source, target, files: env.FILES, claim: 1 };
  await beginTransit(ends, target, 'arriving');
  await beginTransit(ends, source, 'copying');
  await installTriggers(source, id);
  return ends;
}

/** Walks over all tables, a page at a time. */
function walk(ends: MoveEnds): { page(): Promise<void>; rest(): Promise<void> } {
  let at = 0;
  let cursor: RowKey | null = null;
  const page = async () => {
    const table = copiedTables[at];
    if (!table) return;
    const { keys, next } = await findKeysAfter(ends, table, cursor);
    await copyRows(ends, table, keys);
    cursor = next;
    if (next === null) at++;
  };
  const rest = async () => {
    while (at < copiedTables.length) await page();
    while ((await replayChanges(ends)) > 0);
  };
  return { page, rest };
}

const value = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('', 'null', '0', '1e3', '👩‍👩‍👧‍👦 "x" \\ \u0000 \u2028', 'a\u0000b', "it's", 'x'.repeat(70_000), '"'.repeat(50_000)),
);
const number = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER));
const slot = fc.nat({ max: 5 });

const happening = fc.oneof(
  fc.record({
    kind: fc.constant('contact' as const),
    at: slot,
    phone: fc.option(slot, { nil: null }),
    text: fc.option(value, { nil: null }),
    number,
  }),
  fc.record({ kind: fc.constant('swap' as const), at: slot, to: slot }),
  fc.record({ kind: fc.constant('drop' as const), at: slot }),
  fc.record({ kind: fc.constant('event' as const), text: value, number }),
  fc.record({ kind: fc.constant('member' as const), at: slot, isGone: fc.boolean() }),
  fc.record({ kind: fc.constant('run' as const), at: slot, isEnded: fc.boolean(), isChained: fc.boolean() }),
  fc.record({ kind: fc.constant('renamed' as const), text: value }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('page' as const), pages: fc.integer({ min: 1, max: 9 }) }) },
  fc.record({ kind: fc.constant('replay' as const) }),
);
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

interface Known {
  list: number;
  workflow: number;
  runs: number[];
}

/** What an organization does while its rows are copied. */
async function happen(
  id: number,
  one: Exclude<Happening, { kind: 'page' | 'replay' }>,
  known: { list: number; workflow: number; runs: number[] },
) {
  const contacts = (
    await first.prepare('SELECT id, phone FROM contact WHERE organization_id = ? ORDER BY id').bind(id).all<{ id: number; phone: string }>()
  ).results;
  const at = 'at' in one ? contacts[one.at] : undefined;
  const run = (sql: string, ...values: unknown[]) =>
    first
      .prepare(sql)
      .bind(...values)
      .run();
  switch (one.kind) {
    case 'contact': {
      const phone = one.phone === null ? null : `+1555${one.phone}`;
      if (phone !== null) await run('UPDATE contact SET phone = NULL WHERE organization_id = ? AND phone = ?', id, phone);
      if (at) await run('UPDATE contact SET phone = ?, first_name = ?, updated_at = ? WHERE id = ?', phone, one.text, one.number, at.id);
      else
        await insertRow(
          'contact',
          { organization_id: id, phone, first_name: one.text, tags: '[]', custom_fields: '{}', created_at: one.number },
          first,
        );
      return;
    }
    case 'swap': {
      const other = contacts[one.to];
      if (!at || !other || at.id === other.id) return;
      await first.batch([
        first.prepare('UPDATE contact SET phone = NULL WHERE id = ?').bind(at.id),
        first.prepare('UPDATE contact SET phone = ? WHERE id = ?').bind(at.phone, other.id),
        first.prepare('UPDATE contact SET phone = ? WHERE id = ?').bind(other.phone, at.id),
      ]);
      return;
    }
    case 'drop':
      if (at) await run('DELETE FROM contact WHERE id = ?', at.id);
      return;
    case 'event':
      await insertRow(
        'event',
        { organization_id: id, event_type: 'e', data: JSON.stringify({ text: one.text }), occurred_at: one.number },
        first,
      );
      return;
    case 'member':
      if (!at) return;
      if (one.isGone) await run('DELETE FROM contact_list_member WHERE list_id = ? AND contact_id = ?', known.list, at.id);
      else await run('INSERT OR REPLACE INTO contact_list_member (list_id, contact_id, added_at) VALUES (?, ?, 1)', known.list, at.id);
      return;
    case 'run': {
      const old = known.runs[one.at];
      if (old !== undefined && one.isEnded) await run("UPDATE automation_run SET state = 'completed' WHERE id = ?", old);
      else
        known.runs.push(
          await insertRow(
            'automation_run',
            {
              organization_id: id,
              workflow_id: known.workflow,
              state: 'running',
              depth: one.isChained && known.runs[0] ? known.runs[0] * 16 + 1 : 0,
            },
            first,
          ),
        );
      return;
    }
    case 'renamed':
      await run('UPDATE automation_workflow SET name = ? WHERE id = ?', one.text, known.workflow);
  }
}

test('copies are the same as their rows, whatever happens between the pages', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 40 }), async (happenings) => {
      const known: Known = { list: 0, workflow: 0, runs: [] };
      const ends = await between(async (organization) => {
        known.list = await insertRow(
          'contact_list',
          { organization_id: organization, name: 'L', metadata: '{}', column_schema: '[]' },
          first,
        );
        known.workflow = await insertRow('automation_workflow', { organization_id: organization }, first);
        for (const place of [0, 1, 2, 3, 4])
          await insertRow('contact', { organization_id: organization, phone: `+1555${place}`, tags: '[]', custom_fields: '{}' }, first);
        await happen(organization, { kind: 'run', at: 5, isEnded: false, isChained: false }, known);
        await happen(organization, { kind: 'run', at: 5, isEnded: false, isChained: true }, known);
      });
      const { organizationId: id } = ends;
      const copy = walk(ends);
      for (const one of happenings) {
        if (one.kind === 'page') for (let pages = 0; pages < one.pages; pages++) await copy.page();
        else if (one.kind === 'replay') await replayChanges(ends);
        else await happen(id, one, known);
      }
      await copy.rest();
      expect(comparable(await rowsOf(second, id))).toEqual(comparable(await rowsOf(first, id)));
      await dropTriggers(ends.source, id);
    }),
    { numRuns: 25 },
  );
}, 300_000);

test('rows may take the places of others in unique indexes, in any order', async () => {
  const ends = await between();
  const { organizationId: id } = ends;
  const contact = (phone: string) => insertRow('contact', { organization_id: id, phone, tags: '[]', custom_fields: '{}' }, first);
  const [a, b] = [await contact('+15550001'), await contact('+15550002')];
  const list = (name: string) => insertRow('contact_list', { organization_id: id, name, metadata: '{}', column_schema: '[]' }, first);
  const [x, y] = [await list('Ones'), await list('Others')];
  await walk(ends).rest();
  const set = (sql: string, ...values: unknown[]) => first.prepare(sql).bind(...values);
  await first.batch([
    set('UPDATE contact SET phone = NULL WHERE id = ?', a),
    set("UPDATE contact SET phone = '+15550001' WHERE id = ?", b),
    set("UPDATE contact SET phone = '+15550002' WHERE id = ?", a),
    set('UPDATE contact_list SET deleted_at = 1 WHERE id = ?', x),
    set("UPDATE contact_list SET name = 'ONES' WHERE id = ?", y),
  ]);
  const third = await list('others');
  await walk(ends).rest();
  expect(await rowsOf(second, id)).toEqual(await rowsOf(first, id));
  expect((await rowsOf(second, id))['contact_list']).toHaveLength(3);
  await set("UPDATE contact_list SET name = 'Ones', deleted_at = 2 WHERE id = ?", third).run();
  await walk(ends).rest();
  expect(await rowsOf(second, id)).toEqual(await rowsOf(first, id));
  await dropTriggers(ends.source, id);
});

test('a row of nearly 2 MB is copied, though as JSON it is longer than the database takes', async () => {
  const ends = await between();
  const { organizationId: id } = ends;
  await insertRow('event', { organization_id: id, event_type: 'e', data: '"'.repeat(1_500_000) }, first);
  for (let count = 0; count < 4; count++)
    await insertRow('event', { organization_id: id, event_type: 'e', data: 'é'.repeat(600_000) }, first);
  await walk(ends).rest();
  expect(await rowsOf(second, id)).toEqual(await rowsOf(first, id));
  await dropTriggers(ends.source, id);
});

test('more rows than a page has are copied, between those of others', async () => {
  const ends = await between();
  const { organizationId: id } = ends;
  const insert = (organization: number, rows: number) =>
    first
      .prepare(
        `INSERT INTO event (organization_id, event_type, data, created_at)
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2) SELECT ?1, 'e', '{"i":' || i || '}', i FROM n`,
      )
      .bind(organization, rows)
      .run();
  await insert(id, 700);
  await insert(0, 4500);
  await insert(id, 1300);
  await walk(ends).rest();
  const count = (database: D1Database) =>
    database
      .prepare('SELECT count(*) AS rows, sum(id) AS ids, sum(created_at) AS ages FROM event WHERE organization_id = ?')
      .bind(id)
      .first();
  expect(await count(first)).toMatchObject({ rows: 2000 });
  expect(await count(second)).toEqual(await count(first));
  await first.prepare('DELETE FROM event WHERE organization_id = 0 AND handled_at IS NULL').run();
  await dropTriggers(ends.source, id);
});

test('a row of another organization with the same id is left alone', async () => {
  const ends = await between();
  const other = await newOrganization({ shard: 1 });
  const event = await insertRow('event', { organization_id: ends.organizationId, event_type: 'mine', data: '{}' }, first);
  await insertRow('event', { id: event, organization_id: other.id, event_type: 'theirs', data: '{}' }, second);
  await walk(ends).rest();
  expect(await second.prepare('SELECT event_type FROM event WHERE id = ?').bind(event).first()).toEqual({ event_type: 'theirs' });
  await second.prepare('DELETE FROM event WHERE id = ?').bind(event).run();
  await dropTriggers(ends.source, ends.organizationId);
});

test('a worker that another has followed writes nothing', async () => {
  const ends = await between();
  await insertRow('event', { organization_id: ends.organizationId, event_type: 'e', data: '{}' }, first);
  await beginTransit({ ...ends, claim: 2 }, ends.target, 'arriving');
  await expect(walk(ends).rest()).rejects.toThrow();
  expect(await rowsOf(second, ends.organizationId)).toEqual({});
  await dropTriggers(ends.source, ends.organizationId);
});
