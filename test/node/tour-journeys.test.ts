import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentNames, readAgent } from '../../scripts/tour/agents.ts';
import { readTourArguments } from '../../scripts/tour/arguments.ts';
import { renderExample, listNeededRecords, toSummary, listNeededTemplates, insertIds } from '../../scripts/tour/journey-file.ts';
import { journeyNames, readJourney } from '../../scripts/tour/journeys.ts';
import { Service } from '../../scripts/tour/service.ts';
import type { Tour } from '../../scripts/tour/step.ts';
import { steps } from '../../scripts/tour/steps.ts';
import { offerJourneys } from '../../scripts/tour/steps/offer-journeys.ts';
import { tryJourney } from '../../scripts/tour/steps/try-journey.ts';
import { validateAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import { toRealNodes } from '../../scripts/tour/run-for-real.ts';
import { toTimeline, type DryRun, type Visit } from '../../scripts/tour/timeline.ts';

const root = join(import.meta.dirname, '../..');

describe('the arguments of the tour', () => {
  test('none are the whole tour, names are journeys, and "all" is all of them', () => {
    expect(readTourArguments([])).toEqual({ isHelp: false, journeys: [] });
    expect(readTourArguments(['--journey', 'win-back', '--journey=win-back', '--journey=payment-failed']).journeys).toEqual([
      'win-back',
      'payment-failed',
    ]);
    expect(readTourArguments(['--journey', 'win-back', '--journey', 'all']).journeys).toEqual(journeyNames);
    expect(readTourArguments(['--help']).isHelp).toBe(true);
  });

  test.each([
    [['--journey', 'abandoned'], /--journey is "abandoned"; give one of abandoned-cart, .*, nightly-list-sweep, or all/],
    [['--journey', ''], /--journey is ""; give one of/],
    [['--journey'], /--journey.*argument missing[^]*Usage: npm run tour/],
    [['abandoned-cart'], /abandoned-cart[^]*npm run tour -- --journey NAME/],
    [['--jurney', 'win-back'], /'--jurney'[^]*--journey NAME/],
  ])('%j is refused with what is allowed', (parameters, words) => {
    expect(() => readTourArguments(parameters)).toThrow(words);
  });
});

describe('the gallery', () => {
  test('every file is offered, at the end of the tour and in docs/journey-gallery.md, each in a line', async () => {
    const files = readdirSync(join(root, 'examples/journeys')).map((file) => file.replace(/\.json$/, ''));
    expect(files.toSorted()).toEqual(journeyNames.toSorted());
    expect(steps.at(-1)).toBe(offerJourneys);
    const said: string[] = [];
    await offerJourneys.run({ say: (line: string) => said.push(line) } as Partial<Tour> as Tour);
    const page = readFileSync(join(root, 'docs/journey-gallery.md'), 'utf8');
    for (const name of journeyNames) {
      const summary = toSummary(readJourney(name));
      expect(summary.length, name).toBeLessThan(130);
      expect(said.filter((line) => line.startsWith(`${name} `) && line.endsWith(summary))).toHaveLength(1);
      expect(page).toContain(`| [${name}](../examples/journeys/${name}.json) | `);
    }
    expect(said.join('\n')).toMatch(/npm run tour -- --journey abandoned-cart[^]*--journey all/);
  });

  test.each(journeyNames)('the example of %s has every date filled in, and only dates', (name) => {
    const file = readJourney(name);
    const [one, other] = ['2027-03-01', '2028-07-01'].map((date) => JSON.stringify(renderExample(file, Date.parse(date))));
    expect(one).not.toContain('{{');
    const dates = /\d{4}-\d\d-\d\d/g;
    expect(one!.replaceAll(dates, '')).toBe(other!.replaceAll(dates, ''));
    expect(one === other).toBe(!JSON.stringify(file.example).includes('{{'));
  });

  test.each(journeyNames)('what %s names of the reader stands once where its id belongs', (name) => {
    const file = readJourney(name);
    const { journey } = file;
    const needs = listNeededRecords(file);
    for (const need of needs) {
      expect(JSON.stringify(journey).split(String(need.placeholder))).toHaveLength(2);
      if ('journey' in need) expect(journeyNames).toContain(need.journey);
      if ('agent' in need) expect(agentNames).toContain(need.agent);
    }
    const references = JSON.stringify(journey).match(/"(list_id|workflow_id)":\d+/g) ?? [];
    expect(references).toHaveLength(needs.length);
    const filled = insertIds(journey, new Map(needs.map(({ placeholder }, index) => [placeholder, 7 + index])));
    expect(JSON.stringify(filled)).not.toMatch(/9999999\d\d/);
    expect(insertIds(journey, new Map())).toEqual(journey);
  });
});

test.each(journeyNames)('every template that %s sends is listed word by word, with as many placeholders as parameters', (name) => {
  const file = readJourney(name);
  const sent = (file.journey.definition.nodes as { type: string; data?: any }[])
    .filter(({ type }) => type === 'send_message')
    .map(({ data }) => [data.template_name, data.language, Object.keys(data.template_params)]);
  const placeholders = (body: string) => [...body.matchAll(/\{\{(\d)\}\}/g)].map(([, number]) => number);
  expect(listNeededTemplates(file).map(({ name: template, language, body }) => [template, language, placeholders(body)])).toEqual(sent);
});

test.each(agentNames)('the agent %s is sound as it stands, and its variables have defaults', (name) => {
  const { workflow_definition: definition, template_context_variables: variables } = readAgent(name);
  expect(validateAgentDefinition(definition)).toEqual([]);
  const texts = JSON.stringify(definition);
  for (const variable of Object.keys(variables)) expect(texts).toContain(`{{ ${variable} }}`);
});

test('every agent of the folder is known', () => {
  const files = readdirSync(join(root, 'examples/agents')).map((file) => file.replace('.json', ''));
  expect(files.toSorted()).toEqual(agentNames.toSorted());
});

describe('the timeline of a dry run', () => {
  const visit = (started_at: string, node_name: string | null, more: Partial<Visit> = {}): Visit => ({
    node_id: 'n1',
    node_type: 'wait',
    node_name,
    status: 'completed',
    output: null,
    error: null,
    started_at,
    duration_ms: 0,
    ...more,
  });
  const run = (history: Visit[], more: Partial<DryRun> = {}): DryRun => ({
    id: 1,
    state: 'completed',
    outcome: 'done',
    error: null,
    started_at: '2027-03-13T22:00:00.000Z',
    completed_at: '2027-03-15T13:00:00.000Z',
    history,
    ...more,
  });
  const [saturday, monday] = ['2027-03-13T22:00:00.000Z', '2027-03-15T13:00:00.000Z'];

  test("tells each visit by the contact's clock, why it waits and until when, and the events between, also where the clocks change", () => {
    const why = 'until 09:00 on Monday in America/New_York';
    const history = [
      visit(saturday, 'A cart was filled'),
      visit(saturday, 'Until Monday', { output: { until: monday, why }, duration_ms: 140_400_000 }),
      visit(monday, 'Call', {
        status: 'simulated',
        output: { simulated: true, request: { method: 'POST', url: 'https://x.example/calls' } },
      }),
    ];
    const events = [
      { event_type: 'order_placed', data: {}, after: 'PT12H' },
      { event_type: 'too_late', data: {}, after: 'P9D' },
    ];
    expect(toTimeline(run(history), events, 'America/New_York')).toEqual([
      'Sat 13 Mar 2027 17:00  A cart was filled',
      '                       Until Monday',
      '                         waits to Mon 15 Mar 2027 09:00: until 09:00 on Monday in America/New_York',
      'Sun 14 Mar 2027 06:00  * order_placed comes',
      'Mon 15 Mar 2027 09:00  Call: would send POST https://x.example/calls',
      'Mon 15 Mar 2027 09:00  completed, outcome "done"',
    ]);
    expect(toTimeline(run(history), [], 'Europe/Berlin').at(-1)).toBe('Mon 15 Mar 2027 14:00  completed, outcome "done"');
  });

  test('an event stands above what it wakes, and a wait for events says that it may end before', () => {
    const output = { until: '2027-03-14T22:00:00.000Z', why: 'until the first paid of the contact' };
    const history = [
      visit(saturday, 'Paid?', { node_type: 'wait_for_event', output, duration_ms: 1 }),
      visit('2027-03-13T23:00:00.000Z', 'Thank'),
    ];
    expect(toTimeline(run(history), [{ event_type: 'paid', data: {}, after: 'PT1H' }], 'UTC').slice(1, 4)).toEqual([
      '                         waits to Sun 14 Mar 2027 22:00 at the latest: until the first paid of the contact',
      'Sat 13 Mar 2027 23:00  * paid comes',
      '                       Thank',
    ]);
  });

  test('what is only shown, left out, broken off or failed is said, and a moment that has passed is no wait', () => {
    const failure = { type: 'past_due', message: 'until: has passed' };
    const history = [
      visit(saturday, 'Tag', { status: 'simulated', output: { simulated: true } }),
      visit(saturday, 'Call', { status: 'simulated', output: { simulated: true, request: { phone: '+12125550173' } } }),
      visit(saturday, 'Write', {
        status: 'simulated',
        output: { simulated: true, request: { to: '+12125550173', template_name: 'win_back' } },
      }),
      visit(saturday, 'Text', {
        status: 'skipped',
        output: { skipped: 'quiet_hours', until: monday, why: 'quiet hours until Monday 09:00' },
      }),
      visit(saturday, null, { output: { until: saturday, why: 'not at all: the moment has passed' } }),
      visit(saturday, 'Nap', { status: 'skipped', output: { until: monday, why: 'P2D after the step began' }, duration_ms: 5 }),
      visit(saturday, 'Wait', { status: 'failed', error: failure }),
    ];
    const lines = toTimeline(run(history, { state: 'failed', outcome: null, error: { node_id: 'w', ...failure } }), [], 'UTC');
    expect(lines.map((line) => line.slice(23))).toEqual([
      'Tag (not done, only shown)',
      'Call: would call +12125550173',
      'Write: would send the message "win_back" to +12125550173',
      'Text (left out)',
      '  quiet hours until Monday 09:00',
      'n1',
      '  not at all: the moment has passed',
      'Nap (broken off)',
      '  waits to Mon 15 Mar 2027 13:00: P2D after the step began',
      'Wait (failed, past_due: until: has passed)',
      'failed, past_due: until: has passed',
    ]);
  });
});

test('the calls and messages of a dry run become nodes that do for real what was shown, and nothing else does', () => {
  const visit = (node_type: string, status: string, request: object): Visit => ({
    node_id: node_type,
    node_type,
    node_name: null,
    status,
    output: { simulated: true, request },
    error: null,
    started_at: '2027-03-13T22:00:00.000Z',
    duration_ms: 0,
  });
  const call = { workflow_id: 7, phone: '+442079460171', initial_context: { first_name: 'Mia' } };
  const message = { to: '+442079460171', template_name: 'win_back', language: 'en', template_params: { 1: 'Mia' } };
  const nodes = toRealNodes([
    visit('http_request', 'simulated', { method: 'GET', url: 'https://x.example' }),
    visit('voice_call', 'skipped', call),
    visit('voice_call', 'simulated', call),
    visit('send_message', 'simulated', { provider: null, kind: 'template', ...message }),
  ]);
  expect(nodes).toEqual([
    { id: 'n2', type: 'voice_call', name: 'voice_call', data: call },
    { id: 'n3', type: 'send_message', name: 'send_message', data: message },
  ]);
});

describe('trying a journey', () => {
  /** A service that keeps workflows and lists, and notes what is written to it. */
  function fakeTour(workflows: { id: number; name: string; status: string }[] = []) {
    const lists: { id: number; name: string }[] = [];
    const agents: { id: number; name: string }[] = [];
    const written: { call: string; body: any }[] = [];
    const answer = (method: string, path: string, query: URLSearchParams, body: any): unknown => {
      if (method !== 'GET') written.push({ call: `${method} ${path}`, body });
      const named = ({ name }: { name: string }) => name.includes(query.get('search') ?? '');
      if (path.endsWith('/test')) return { ...emptyRun, id: 70 };
      if (path === '/contacts/upsert') return { contact: { custom_fields: {}, ...body, id: 41 } };
      if (path === '/contacts/lists' && method === 'GET') return { lists: lists.filter(named) };
      if (path === '/contacts/lists') return lists[lists.push({ id: 30 + lists.length, name: body.name }) - 1];
      if (path === '/workflow') return { workflows: agents.filter(named) };
      if (path === '/workflow/create/definition') return agents[agents.push({ id: 50 + agents.length, name: body.name }) - 1];
      if (path.startsWith('/workflow/')) return { id: Number(path.split('/').at(-1)), name: body.name };
      if (method === 'GET') {
        const found = workflows.filter((one) => named(one) && one.status === query.get('status'));
        return { automation_workflows: found };
      }
      const id = method === 'PATCH' ? Number(path.split('/').at(-1)) : 10 + workflows.length;
      const record = { id, name: body.name as string, status: 'draft', version: 1 };
      if (method === 'POST') workflows.push(record);
      return record;
    };
    const service = new Service('http://service.test/api/v1', 'key', async (input, init) => {
      const { pathname, searchParams } = new URL(input as string);
      const body: unknown = init?.body ? JSON.parse(String(init.body)) : undefined;
      return Response.json(answer(init?.method ?? 'GET', pathname.replace('/api/v1', ''), searchParams, body));
    });
    const said: string[] = [];
    const tour = {
      service,
      baseUrl: 'http://service.test/api/v1',
      organization: { id: 1, name: 'Acme', default_country: 'US', timezone: 'America/New_York' },
      say: (line: string) => said.push(line),
    } as Partial<Tour> as Tour;
    return { tour, said, written };
  }
  const emptyRun: DryRun = {
    id: 1,
    state: 'completed',
    outcome: 'exited',
    error: null,
    started_at: '2027-03-13T22:00:00.000Z',
    completed_at: '2027-03-13T22:00:00.000Z',
    history: [],
  };

  test('makes a draft that its name identifies, tries it with its example, and leaves it', async () => {
    const { tour, said, written } = fakeTour();
    const { journey, example } = readJourney('order-paid-webhook');
    await tryJourney('order-paid-webhook').run(tour);
    expect(written).toEqual([
      { call: 'POST /automation-workflows', body: { ...journey, name: 'Tour: Order paid: tell the other journeys' } },
      { call: 'POST /contacts/upsert', body: example.contact },
      { call: 'POST /automation-workflows/10/test', body: { contact_id: 41, context: example.context, events: example.events } },
    ]);
    expect(said.join('\n')).toMatch(/"Tour: Order paid: tell the other journeys" is new: id 10, a draft/);
    expect(said.join('\n')).toContain('the times are those of Europe/London');
    expect(said).toContain('  Sat 13 Mar 2027 22:00  completed, outcome "exited"');
  });

  test('brings the draft of an earlier tour up to date, and leaves one alone that was activated', async () => {
    const name = 'Tour: Order paid: tell the other journeys';
    const again = fakeTour([
      { id: 3, name: `${name}, mine`, status: 'draft' },
      { id: 4, name, status: 'draft' },
    ]);
    await tryJourney('order-paid-webhook').run(again.tour);
    expect(again.written[0]!.call).toBe('PATCH /automation-workflows/4');
    expect(again.said.join('\n')).toContain('was there: id 4');
    const activated = fakeTour([{ id: 4, name, status: 'active' }]);
    await tryJourney('order-paid-webhook').run(activated.tour);
    expect(activated.written.map(({ call }) => call)).not.toContain('PATCH /automation-workflows/4');
  });

  test('makes what the journey names: the list, the other journey, the agent, which a second tour finds', async () => {
    const sweep = fakeTour();
    await tryJourney('nightly-list-sweep').run(sweep.tour);
    expect(sweep.written.slice(0, 2)).toMatchObject([
      { call: 'POST /contacts/lists', body: { name: 'Journey examples' } },
      { call: 'POST /automation-workflows', body: { trigger: { config: { audience: { list_id: 30 } } } } },
    ]);
    const renewal = fakeTour();
    await tryJourney('renewal-notice').run(renewal.tour);
    const [, winBack, , notice] = renewal.written;
    expect(winBack!.body.name).toMatch(/^Tour: Win-back/);
    expect(notice!.body.definition.nodes.find((node: { type: string }) => node.type === 'run_workflow').data.workflow_id).toBe(10);
    const lead = fakeTour();
    for (const call of ['POST /workflow/create/definition', 'PUT /workflow/50']) {
      lead.written.length = 0;
      await tryJourney('lead-to-call').run(lead.tour);
      const [agent, journey] = lead.written;
      expect(agent).toMatchObject({ call, body: { ...readAgent('new-lead'), name: 'Tour: New lead' } });
      expect(journey!.body.definition.nodes.find((node: { type: string }) => node.type === 'voice_call').data.workflow_id).toBe(50);
    }
  });
});
