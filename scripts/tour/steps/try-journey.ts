import { contactTimeZone } from '../../../src/contacts/contacts/contact-time-zone.ts';
import { findAgent } from '../agents.ts';
import { renderExample, listNeededRecords, toSummary, listNeededTemplates, insertIds } from '../journey-file.ts';
import type { JourneyFile, NeededRecord } from '../journey-file.ts';
import { readJourney } from '../journeys.ts';
import { runForReal, toRealNodes } from '../run-for-real.ts';
import type { Tour, TourStep } from '../step.ts';
import { toTimeline } from '../timeline.ts';
import type { DryRun } from '../timeline.ts';

interface Draft {
  id: number;
  name: string;
  version: number;
  isNew: boolean;
}

interface Contact {
  id: number;
  phone: string;
  first_name: string;
  last_name: string;
  custom_fields: Record<string, unknown>;
}

/** A journey of `examples/journeys/`, as a draft that stays: walked dry with its example, then its calls and messages for real. */
export const tryJourney = (name: string): TourStep => ({
  title: `Try examples/journeys/${name}.json`,
  operation: 'POST /automation-workflows/{workflow_id}/test',
  async run(tour) {
    const { service, baseUrl, say, organization } = tour;
    const file = readJourney(name);
    say(toSummary(file));
    const draft = await draftOf(tour, file);
    say(`"${draft.name}" ${draft.isNew ? 'is new' : 'was there'}: id ${draft.id}, a draft, version ${draft.version}`);
    const { contact: person, ...test } = renderExample(file, Date.now());
    const { contact } = await service.post<{ contact: Contact }>('/contacts/upsert', person);
    const { zone } = contactTimeZone(contact, organization);
    say(`Dry run with ${contact.first_name} ${contact.last_name}, ${contact.phone}; the times are those of ${zone}`);
    const run = await service.post<DryRun>(`/automation-workflows/${draft.id}/test`, { contact_id: contact.id, ...test });
    for (const line of toTimeline(run, test.events, zone)) say(`  ${line}`);
    say(`${baseUrl}/automation-workflows/${draft.id}`);
    say(`${baseUrl}/automation-workflows/runs/${run.id}/history`);
    const nodes = toRealNodes(run.history);
    if (nodes.length > 0) await runForReal(tour, { name: draft.name, contactId: contact.id, nodes, templates: listNeededTemplates(file) });
  },
});

/** The draft of an earlier tour, brought up to date, or a new one. What its owner has activated is left alone. */
async function draftOf(tour: Tour, file: JourneyFile): Promise<Draft> {
  const { service } = tour;
  const ids = new Map<number, number>();
  for (const need of listNeededRecords(file)) ids.set(need.placeholder, await idFor(tour, need));
  const journey = { ...insertIds(file.journey, ids), name: `Tour: ${file.journey.name}` };
  const { automation_workflows: drafts } = await service.get<{ automation_workflows: Draft[] }>(
    `/automation-workflows?status=draft&limit=500&search=${encodeURIComponent(journey.name)}`,
  );
  const known = drafts.find(({ name }) => name === journey.name);
  if (known) return { ...(await service.patch<Draft>(`/automation-workflows/${known.id}`, journey)), isNew: false };
  return { ...(await service.post<Draft>('/automation-workflows', journey)), isNew: true };
}

async function idFor(tour: Tour, need: NeededRecord): Promise<number> {
  if ('journey' in need) return (await draftOf(tour, readJourney(need.journey))).id;
  if ('agent' in need) return (await findAgent(tour, need.agent)).id;
  const { service } = tour;
  const { lists } = await service.get<{ lists: { id: number; name: string }[] }>(
    `/contacts/lists?limit=500&search=${encodeURIComponent(need.list)}`,
  );
  const known = lists.find(({ name }) => name.toLowerCase() === need.list.toLowerCase());
  return (known ?? (await service.post<{ id: number }>('/contacts/lists', { name: need.list }))).id;
}
