import type { Bench } from '../bench.ts';
import { farAway } from '../local/wait-until-idle.ts';
import { multiply } from './multiply.ts';

/** How much data there is at the scale 1; at the scale 100 it is a hundred times as much. */
/** Of two hours ago: the minute tick has seen them, and keeps looking at what was accepted in the last minutes. */
const createdAt = "unixepoch('now') * 1000 - 7200000";
const sizes = { organizations: 10, contacts: 1000, events: 1000, runs: 500, sleepingRuns: 100, chunks: 500 };

/** Fills the organization of the benchmark from one scale to the next, and others beside it with as much again. `from` is 0 at first. */
export async function fill(bench: Bench, from: number, to: number): Promise<void> {
  const database = bench.rig.databases.recording;
  const grown = (size: number) => ({ from: size * from + 1, count: size * (to - from) });
  const mine = 'organization_id = 1';
  const other = `1000000 + n.value % ${sizes.organizations * to}`;
  bench.progress(`Filling to ${to} times the data: organizations and contacts`);
  await multiply(database, {
    table: 'organization',
    where: 'id = 1',
    ...grown(sizes.organizations),
    replaced: { id: '1000000 + n.value', name: "'Beside ' || n.value" },
  });
  const contact = {
    id: null,
    external_id: "'grown-' || n.value",
    phone: "'+4477' || printf('%08d', n.value)",
    email: "'p' || n.value || '@example.org'",
  };
  for (const organization of ['1', other])
    await multiply(database, {
      table: 'contact',
      where: mine,
      ...grown(sizes.contacts),
      replaced: { ...contact, organization_id: organization },
    });
  bench.progress(`Filling to ${to} times the data: events and runs`);
  const event = {
    id: null,
    sender_id: "'grown-' || n.value",
    handled_at: 'coalesce(0, n.value)',
    contact_id: null,
    phone: null,
    created_at: createdAt,
  };
  for (const organization of ['1', other])
    await multiply(database, {
      table: 'event',
      where: mine,
      ...grown(sizes.events),
      replaced: { ...event, organization_id: organization },
    });
  const run = { id: null, dedup_key: "'grown:' || n.value", contact_id: null, created_at: createdAt };
  const ended = `${mine} AND completed_at IS NOT NULL AND parent_run_id IS NULL`;
  await multiply(database, { table: 'automation_run', where: ended, ...grown(sizes.runs), replaced: run });
  const asleep = {
    ...run,
    dedup_key: "'asleep:' || n.value",
    state: "'waiting'",
    completed_at: null,
    outcome: null,
    wake_at: String(farAway),
  };
  await multiply(database, { table: 'automation_run', where: ended, ...grown(sizes.sleepingRuns), replaced: asleep });
  bench.progress(`Filling to ${to} times the data: chunks of documents`);
  await multiply(database, {
    table: 'knowledge_chunk',
    where: mine,
    ...grown(sizes.chunks),
    replaced: {
      id: null,
      chunk_index: '100000 + n.value',
      content: "'Paragraph ' || n.value || ' tells of shelf ' || n.value % 97 || ' in hall ' || n.value % 13'",
    },
  });
}
