import { renderDeep } from '../../src/expressions/templates/render.ts';
import { toTimestamp } from '../../src/library/time/clock.ts';

/** A file in `examples/journeys/`. */
export interface JourneyFile {
  /** The body of `POST /automation-workflows`. */
  journey: Journey;
  needs?: Need[];
  example: JourneyExample;
}

export interface Journey {
  name: string;
  description: string;
  definition: { nodes: { id: string; type: string; name: string }[]; edges: object[] };
  trigger: { type: string; config: object };
  context_schema?: object;
  settings: object;
}

/**
 * What of the reader's own the journey names: by `placeholder`, the number that stands in it for an id, a list, another journey of the
 * gallery or an agent of `examples/agents/`; by its name, a message template that their messaging provider has approved.
 */
type Need = NeededRecord | NeededTemplate;
export type NeededRecord = { placeholder: number } & ({ list: string } | { journey: string } | { agent: string });
export interface NeededTemplate {
  template: { name: string; language: string; category: string; body: string };
}

export const listNeededRecords = ({ needs = [] }: JourneyFile): NeededRecord[] => needs.filter((need) => 'placeholder' in need);

export const listNeededTemplates = ({ needs = [] }: JourneyFile): NeededTemplate['template'][] =>
  needs.flatMap((need) => ('template' in need ? [need.template] : []));

/** Something to try the journey with. Its texts are templates over `now`, so that its dates are always to come. */
export interface JourneyExample {
  /** The body of `POST /contacts/upsert`. */
  contact: { list_name: string; [field: string]: unknown };
  /** `context` and `events` of `POST /automation-workflows/{workflow_id}/test`. */
  context: Record<string, unknown>;
  events: ExampleEvent[];
}

export interface ExampleEvent {
  event_type: string;
  data: Record<string, unknown>;
  /** ISO 8601 duration from the run's start. */
  after: string;
}

/** The example as it is sent at `now` (epoch ms). */
export const renderExample = ({ example }: JourneyFile, now: number): JourneyExample =>
  renderDeep(example, { now: toTimestamp(now) }) as unknown as JourneyExample;

/** The journey with ids in the places of its placeholders. */
export function insertIds(journey: Journey, ids: ReadonlyMap<number, number>): Journey {
  const filled = (_key: string, value: unknown): unknown => (typeof value === 'number' ? (ids.get(value) ?? value) : value);
  return JSON.parse(JSON.stringify(journey, filled)) as Journey;
}

/** What the journey does, in a line: the first sentence of its description. */
export const toSummary = ({ journey }: JourneyFile): string => /^.*?\.(?=\s|$)/s.exec(journey.description)?.[0] ?? journey.description;
