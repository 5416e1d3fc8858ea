import service, {
  AutomationRunObject as RunObject,
  CallObject as TalkObject,
  CallSlotsObject as SlotsObject,
  CampaignObject as RowsObject,
  LoadTestObject as SessionsObject,
  TestSessionObject as SessionObject,
  VectorIndexObject as VectorsObject,
  WebhookEndpointObject as EndpointObject,
} from '../../src/worker.ts';
import type { RecordedCall } from '../recipe.ts';
import { noUsage } from '../usage.ts';
import { ActiveTimes } from './active-times.ts';
import { RecordingDatabase } from './recording-database.ts';
import { countCalls, countStorage, countUses } from './recording-object.ts';

// The service, with a database that records each call and other bindings that count. Only the service itself is measured, so it answers dry requests
// only.

const calls: RecordedCall[] = [];
const usage = noUsage();
const active = new ActiveTimes((milliseconds) => {
  usage.objectMs += milliseconds;
});
const watched = new Map<RecordedCall['by'], Env>();

/** One object for each origin of calls, since the service remembers things by its bindings' identity. */
function watching(bindings: Env, by: RecordedCall['by']): Env {
  let known = watched.get(by);
  if (!known) {
    const queue = (binding: Queue) =>
      countUses(binding, {
        send: () => (usage.queueMessages += 1),
        sendBatch: (messages) => (usage.queueMessages += [...messages].length),
      });
    known = {
      ...bindings,
      DB: new RecordingDatabase(bindings.DB, by, calls) as unknown as D1Database,
      AUTOMATION_RUN: countCalls(bindings.AUTOMATION_RUN, 'AUTOMATION_RUN', usage, active),
      CALL_SLOTS: countCalls(bindings.CALL_SLOTS, 'CALL_SLOTS', usage, active),
      CALL: countCalls(bindings.CALL, 'CALL', usage, active),
      CAMPAIGN: countCalls(bindings.CAMPAIGN, 'CAMPAIGN', usage, active),
      LOAD_TEST: countCalls(bindings.LOAD_TEST, 'LOAD_TEST', usage, active),
      TEST_SESSION: countCalls(bindings.TEST_SESSION, 'TEST_SESSION', usage, active),
      WEBHOOK_ENDPOINT: countCalls(bindings.WEBHOOK_ENDPOINT, 'WEBHOOK_ENDPOINT', usage, active),
      VECTOR_INDEX: countCalls(bindings.VECTOR_INDEX, 'VECTOR_INDEX', usage, active),
      EVENTS_QUEUE: queue(bindings.EVENTS_QUEUE),
      BULK_EVENTS_QUEUE: queue(bindings.BULK_EVENTS_QUEUE),
      FANOUT_QUEUE: queue(bindings.FANOUT_QUEUE),
      CALLS_QUEUE: queue(bindings.CALLS_QUEUE),
      DOCUMENTS_QUEUE: queue(bindings.DOCUMENTS_QUEUE),
      LARGE_DOCUMENTS_QUEUE: queue(bindings.LARGE_DOCUMENTS_QUEUE),
      SYNCS_QUEUE: queue(bindings.SYNCS_QUEUE),
      FILES: countUses(bindings.FILES, {
        put: () => (usage.filesWritten += 1),
        list: () => (usage.filesWritten += 1),
        get: () => (usage.filesRead += 1),
        head: () => (usage.filesRead += 1),
      }),
    };
    watched.set(by, known);
  }
  return known;
}

/** Has what an object uses counted; answers its bindings. What it still does after an answer keeps it busy, too. */
function watch(state: DurableObjectState, bindings: Env, binding: string): Env {
  countStorage(state.storage, usage);
  const waitUntil = state.waitUntil.bind(state);
  state.waitUntil = (work) => waitUntil(active.during(`${binding} ${state.id.name}`, () => work));
  return watching(bindings, 'object');
}

function countAlarm(state: DurableObjectState, binding: string, alarm: () => Promise<void>): Promise<void> {
  usage.alarmsFired++;
  return active.during(`${binding} ${state.id.name}`, alarm);
}

export class AutomationRunObject extends RunObject {
  constructor(state: DurableObjectState, bindings: Env) {
    super(state, watch(state, bindings, 'AUTOMATION_RUN'));
  }

  override alarm(): Promise<void> {
    return countAlarm(this.ctx, 'AUTOMATION_RUN', () => super.alarm());
  }
}

export class CallSlotsObject extends SlotsObject {
  constructor(state: DurableObjectState, bindings: Env) {
    super(state, watch(state, bindings, 'CALL_SLOTS'));
  }

  override alarm(): Promise<void> {
    return countAlarm(this.ctx, 'CALL_SLOTS', () => super.alarm());
  }
}

export class CampaignObject extends RowsObject {
  constructor(state: DurableObjectState, bindings: Env) {
    super(state, watch(state, bindings, 'CAMPAIGN'));
  }

  override alarm(): Promise<void> {
    return countAlarm(this.ctx, 'CAMPAIGN', () => super.alarm());
  }
}

export class CallObject extends TalkObject {
  constructor(state: DurableObjectState, bindings: Env) {
    super(state, watch(state, bindings, 'CALL'));
  }

  override alarm(): Promise<void> {
    return countAlarm(this.ctx, 'CALL', () => super.alarm());
  }

  override webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): void {
    usage.socketFrames++;
    super.webSocketMessage(socket, data);
  }
}

export class LoadTestObject extends SessionsObject {
  constructor(state: DurableObjectState, bindings: Env) {
    super(state, watch(state, bindings, 'LOAD_TEST'));
  }

  override alarm(): Promise<void> {
    return countAlarm(this.ctx, 'LOAD_TEST', () => super.alarm());
  }
}

export class TestSessionObject extends SessionObject {
  constructor(state: DurableObjectState, bindings: Env) {
    super(state, watch(state, bindings, 'TEST_SESSION'));
  }

  override alarm(): Promise<void> {
    return countAlarm(this.ctx, 'TEST_SESSION', () => super.alarm());
  }
}

export class WebhookEndpointObject extends EndpointObject {
  constructor(state: DurableObjectState, bindings: Env) {
    super(state, watch(state, bindings, 'WEBHOOK_ENDPOINT'));
  }

  override alarm(): Promise<void> {
    return countAlarm(this.ctx, 'WEBHOOK_ENDPOINT', () => super.alarm());
  }
}

export class VectorIndexObject extends VectorsObject {
  constructor(state: DurableObjectState, bindings: Env) {
    super(state, watch(state, bindings, 'VECTOR_INDEX'));
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
