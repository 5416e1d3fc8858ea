import { describe, expect, test } from 'vitest';
import { renderExample } from '../../scripts/tour/journey-file.ts';
import { nodeTypes } from '../../src/automation-workflows/nodes/registry.ts';
import { WorkflowSettings } from '../../src/automation-workflows/definitions/settings.ts';
import { journeyAroundClockChange, changes, hour } from '../support/clock-change-runs.ts';
import { gallery, galleryNames, type GalleryName } from '../support/gallery.ts';
import { simulateJourney } from '../support/simulated-runs.ts';

const outcomes: Record<GalleryName, string> = {
  'abandoned-cart': 'exited',
  'order-paid-webhook': 'told',
  'appointment-reminder': 'reminded',
  'lead-to-call': 'contacted',
  'win-back': 'won_back_by_call',
  'payment-failed': 'recovered',
  'review-request': 'promoter',
  'renewal-notice': 'exited',
  'nightly-list-sweep': 'became_lapsed',
};

describe.each(galleryNames)('%s', (name) => {
  const { journey } = gallery[name];
  const nodes = journey.definition.nodes as { id: string; type: string; name: string; data: any; position: { x: number; y: number } }[];
  const edges = journey.definition.edges as { source: string; source_handle?: string }[];

  test.each(changes)('its example ends the same at whatever hour of the week of $sunday it is tried in $zone', async (change) => {
    const { zone, on, exactly } = journeyAroundClockChange(change, name);
    // Steps of five hours pass every hour of the day in five days.
    for (let hours = 0; hours < 7 * 24; hours += 5) {
      const at = exactly(on(-4, '00:30'), hours * hour);
      const { contact, context, events } = renderExample(gallery[name], Date.parse(at));
      const { outcome, steps } = await simulateJourney({ journey, at, zone, contact, context, events });
      expect(outcome, `${at}\n${steps.join('\n')}`).toBe(outcomes[name]);
    }
  });

  test('calls and texts nobody in quiet hours or twice, and goes on when it cannot', () => {
    expect(nodes.filter(({ data }) => /call|message|sms/.test(data.url ?? ''))).toEqual([]);
    const calling = nodes.filter(({ type }) => type === 'voice_call').map(({ id }) => ({ id, handles: ['default', 'error'] }));
    const writing = nodes.filter(({ type }) => type === 'send_message').map(({ id }) => ({ id, handles: ['default', 'failed', 'error'] }));
    for (const { id, handles } of [...calling, ...writing]) {
      const leading = edges.filter(({ source }) => source === id).map(({ source_handle }) => source_handle ?? 'default');
      expect(leading, id).toEqual(expect.arrayContaining(handles));
    }
    if (calling.length + writing.length > 0) expect(journey.settings).toHaveProperty('quiet_hours');
  });

  test('is laid out from left to right, every node with a name and a place of its own', () => {
    const [start, ...rest] = nodes;
    expect(start).toMatchObject({ type: 'trigger', position: { x: 0, y: 0 } });
    for (const node of rest) expect(node.position.x, node.id).toBeGreaterThan(0);
    for (const node of nodes) expect(node.name, node.id).toMatch(/\S/);
    expect(new Set(nodes.map(({ position: { x, y } }) => `${x},${y}`)).size).toBe(nodes.length);
  });
});

describe('the gallery as a whole', () => {
  const files = Object.values(gallery);
  const nodes = files.flatMap(({ journey }) => journey.definition.nodes as { type: string; data?: object }[]);
  const settings = files.map(({ journey }) => journey.settings as Partial<WorkflowSettings>);

  test('shows every node type but those that need a model, and every form of wait', () => {
    const shown = new Set(nodes.map(({ type }) => type));
    expect([...nodeTypes.keys()].filter((type) => !shown.has(type))).toEqual(['knowledge_search', 'llm']);
    const waits = nodes.filter(({ type }) => type === 'wait').flatMap(({ data }) => Object.keys(data ?? {}));
    for (const form of ['duration', 'calendar_days', 'until', 'time_of_day', 'days', 'past_due']) expect(waits).toContain(form);
  });

  test('gives every setting, and each of its modes', () => {
    expect(new Set(settings.flatMap((one) => Object.keys(one)))).toEqual(new Set(Object.keys(WorkflowSettings.shape)));
    expect(new Set(settings.map(({ reentry }) => reentry?.mode ?? 'always'))).toEqual(new Set(['always', 'after', 'never']));
    expect(new Set(settings.flatMap((one) => one.quiet_hours?.policy ?? []))).toEqual(new Set(['defer', 'skip']));
    expect(new Set(settings.flatMap(({ on_error }) => on_error ?? []))).toEqual(new Set(['fail', 'continue']));
  });
});
