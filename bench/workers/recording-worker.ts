import service, { AutomationRunObject as RunObject } from '../../src/worker.ts';
import type { RecordedCall } from '../recipe.ts';
import { noUsage } from '../usage.ts';
import { RecordingDatabase } from './recording-database.ts';
import { countCalls, countStorage, countUses, timed } from './recording-object.ts';

// The service, over a database that writes down each call, and over the other bindings that count. It answers dry requests only:
// what is measured is the service itself.

const calls: RecordedCall[] = [];
const usage = noUsage();
const watched = new Map<RecordedCall['by'], Env>();

/** One object for each origin of calls, since the service remembers things by its bindings' identity. */
function watching(bindings: Env, by: RecordedCall['by']): Env {
  let known = watched.get(by);
  if (!known) {
    const message = () => usage.queueMessages++;
    known = {
      ...bindings,
      DB: new RecordingDatabase(bindings.DB, by, calls) as unknown as D1Database,
      AUTOMATION_RUN: countCalls(bindings.AUTOMATION_RUN, usage),
      EVENTS_QUEUE: countUses(bindings.EVENTS_QUEUE, 'send', message),
      FANOUT_QUEUE: countUses(bindings.FANOUT_QUEUE, 'send', message),
      FILES: countUses(bindings.FILES, 'put', () => usage.filesWritten++),
    };
    watched.set(by, known);
  }
  return known;
}

export class AutomationRunObject extends RunObject {
  constructor(state: DurableObjectState, bindings: Env) {
    countStorage(state.storage, usage);
    super(state, watching(bindings, 'object'));
  }

  override alarm(): Promise<void> {
    usage.alarmsFired++;
    return timed(usage, () => super.alarm());
  }
}

export default {
  async fetch(request, bindings, execution) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/recorded') return Response.json(calls.splice(0));
    if (pathname === '/usage') {
      const counted = { ...usage };
      Object.assign(usage, noUsage());
      return Response.json(counted);
    }
    if (pathname === '/tick') {
      await service.scheduled(
        { scheduledTime: Number(searchParams.get('at') ?? Date.now()), cron: '* * * * *', noRetry: () => undefined },
        watching(bindings, 'tick'),
        execution,
      );
      return Response.json(null);
    }
    usage.workerRequests++;
    return service.fetch(request as never, watching(bindings, 'request'), execution);
  },
  queue: (batch, bindings, execution) => service.queue(batch, watching(bindings, 'queue'), execution),
} satisfies ExportedHandler<Env>;
