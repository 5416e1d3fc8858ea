import type { ExampleEvent } from '../../scripts/tour/journey-file.ts';
import { gallery, type GalleryName } from './gallery.ts';
import { simulateJourney, type SimulatedRun, type SimulatedRunResult } from './simulated-runs.ts';

export const hour = 3_600_000;
export const day = 24 * hour;

/** A Sunday on which the clocks of a zone change, at the instant `at`, from one offset to another. */
export interface ClockChange {
  zone: string;
  sunday: string;
  at: string;
  before: string;
  after: string;
}

export const changes: ClockChange[] = [
  { zone: 'America/New_York', sunday: '2027-03-14', at: '2027-03-14T07:00Z', before: '-05:00', after: '-04:00' },
  { zone: 'America/New_York', sunday: '2027-11-07', at: '2027-11-07T06:00Z', before: '-04:00', after: '-05:00' },
  { zone: 'Europe/Berlin', sunday: '2027-03-28', at: '2027-03-28T01:00Z', before: '+01:00', after: '+02:00' },
  { zone: 'Europe/Berlin', sunday: '2027-10-31', at: '2027-10-31T01:00Z', before: '+02:00', after: '+01:00' },
];

type Options = Partial<Omit<SimulatedRun, 'contact' | 'at' | 'zone'>> & { contact?: Record<string, unknown> };

/** What tests say of a journey in the days around a change. Moments are ISO 8601 as the wall of the zone shows them, with the offset of then. */
export function journeyAroundClockChange({ zone, sunday, at: changesAt, before, after }: ClockChange, name: GalleryName) {
  /** A time of day, so many days from the Sunday. The time must exist once on that day. */
  const on = (days: number, time: string): string => {
    const date = new Date(Date.parse(sunday) + days * day).toISOString().slice(0, 10);
    return `${date}T${time.padEnd(8, ':00')}${days < 0 ? before : after}`;
  };

  /** The moment that lies exactly so many milliseconds after another. */
  const exactly = (moment: string, milliseconds: number): string => {
    const instant = Date.parse(moment) + milliseconds;
    const offset = instant < Date.parse(changesAt) ? before : after;
    return new Date(instant + Number(offset.slice(0, 3)) * hour).toISOString().slice(0, 19) + offset;
  };

  /** A run of the journey, of its example's contact, who lives in the zone; without its example's events. */
  const run = (at: string, { contact, ...more }: Options = {}): Promise<SimulatedRunResult> => {
    const { journey, example } = gallery[name];
    const fields = contact?.['custom_fields'] as object | undefined;
    const person = { ...example.contact, ...contact, custom_fields: { timezone: zone, ...fields } };
    return simulateJourney({ journey, at, zone, context: example.context, ...more, contact: person });
  };
  return { zone, on, exactly, run };
}

/** The lines of `Walked.steps`, the nodes of one moment together. */
export const toStepLines = (...groups: [moment: string, ...nodes: string[]][]): string[] =>
  groups.flatMap(([moment, ...nodes]) => nodes.map((node) => `${moment} ${node}`));

/** An event that comes at `at` in a run that began at `start`. */
export const eventAt = (at: string, start: string, event_type: string, data: Record<string, unknown> = {}): ExampleEvent => ({
  event_type,
  data,
  after: `PT${(Date.parse(at) - Date.parse(start)) / 1000}S`,
});

/** The requests and messages that went out and the calls that were asked for, each with its moment. */
export const listOutgoing = ({ performed }: SimulatedRunResult): string[] =>
  performed.flatMap(({ at, effect, request }) => {
    if (effect === 'voice_call') return `${at} ${voiceCall}`;
    if (effect === 'send_message') return `${at} ${message}`;
    if (effect === 'chatapp_message') return `${at} ${chatMessage}`;
    return effect === 'http_request' ? `${at} ${request.method} ${request.url}` : [];
  });

export const voiceCall = 'a call';
export const message = 'a message';
export const chatMessage = 'a message to a channel';

export const tasks = 'POST https://api.example.com/tasks';
