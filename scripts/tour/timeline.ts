import { addExact, parseDuration } from '../../src/library/time/durations.ts';
import type { ExampleEvent } from './journey-file.ts';

/** What the tour reads of a dry run's answer. */
export interface DryRun {
  id: number;
  state: string;
  outcome: string | null;
  error: { node_id: string | null; type: string; message: string } | null;
  started_at: string;
  completed_at: string;
  history: Visit[];
}

export interface Visit {
  node_id: string;
  node_type: string;
  node_name: string | null;
  status: string;
  output: { until?: string; why?: string; skipped?: string; simulated?: boolean; request?: ShownRequest } | null;
  error: { type: string; message: string } | null;
  started_at: string;
  duration_ms: number | null;
}

/** What a dry run would have done: a request, a call or a message. */
export interface ShownRequest {
  method?: string;
  url?: string;
  phone?: string;
  workflow_id?: number;
  initial_context?: object;
  to?: string;
  template_name?: string;
  language?: string;
  template_params?: object;
}

/** The timeline of a dry run by the clock of `zone`: the visits of nodes, the reasons of waits, and the events. The last line is the end. */
export function toTimeline(run: DryRun, events: ExampleEvent[], zone: string): string[] {
  const clock = clockOf(zone);
  const startedAt = Date.parse(run.started_at);
  const moments = [
    ...events.map(({ event_type, after }) => ({
      at: addExact(startedAt, parseDuration(after, { allowZero: true })),
      isEvent: true,
      lines: [`* ${event_type} comes`],
    })),
    ...run.history.map((visit) => ({ at: Date.parse(visit.started_at), isEvent: false, lines: linesOf(visit, clock) })),
  ]
    .filter(({ at }) => at <= Date.parse(run.completed_at))
    // What an event wakes goes on at the same moment, and stands below it.
    .toSorted((one, other) => one.at - other.at || Number(other.isEvent) - Number(one.isEvent));
  const timeline: string[] = [];
  let shown = '';
  for (const { at, lines } of moments) {
    const time = clock(at);
    const margin = ' '.repeat(time.length);
    for (const [index, line] of lines.entries())
      timeline.push(index > 0 ? `${margin}    ${line}` : `${time === shown ? margin : time}  ${line}`);
    shown = time;
  }
  const end = run.error ? `${run.error.type}: ${run.error.message}` : `outcome "${run.outcome}"`;
  return [...timeline, `${clock(Date.parse(run.completed_at))}  ${run.state}, ${end}`];
}

type ClockFace = (epochMs: number) => string;

/** `Mon 15 Mar 2027 09:00` */
function clockOf(zone: string): ClockFace {
  const form = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (epochMs) => form.format(epochMs).replaceAll(',', '');
}

function linesOf(visit: Visit, clock: ClockFace): string[] {
  const { node_name, node_id, output } = visit;
  const name = `${node_name ?? node_id}${noteOf(visit)}`;
  if (!output?.why) return [name];
  if (output.until === undefined || !visit.duration_ms) return [name, output.why];
  const latest = visit.node_type === 'wait_for_event' ? ' at the latest' : '';
  return [name, `waits to ${clock(Date.parse(output.until))}${latest}: ${output.why}`];
}

/** The note about a visit that failed, waited or was retried. */
function noteOf({ status, output, error }: Visit): string {
  if (status === 'completed') return '';
  if (status === 'simulated') return simulationOf(output?.request);
  if (status === 'skipped') return output?.skipped ? ' (left out)' : ' (broken off)';
  return ` (${status}${error ? `, ${error.type}: ${error.message}` : ''})`;
}

function simulationOf({ method, url, phone, to, template_name: template }: ShownRequest = {}): string {
  if (url !== undefined) return `: would send ${method} ${url}`;
  if (template !== undefined) return `: would send the message "${template}" to ${to}`;
  return phone === undefined ? ' (not done, only shown)' : `: would call ${phone}`;
}
