import service, { AutomationRunObject as RunObject } from '../../src/worker.ts';
import type { RecordedCall } from '../recipe.ts';
import { RecordingDatabase } from './recording-database.ts';

// The service, over a database that writes down each call. It answers dry requests only: what is measured is the service itself.

const calls: RecordedCall[] = [];
const watched = new Map<RecordedCall['by'], Env>();

/** One object for each origin of calls, since the service remembers things by its bindings' identity. */
function watching(bindings: Env, by: RecordedCall['by']): Env {
  let known = watched.get(by);
  if (!known) {
    known = { ...bindings, DB: new RecordingDatabase(bindings.DB, by, calls) as unknown as D1Database };
    watched.set(by, known);
  }
  return known;
}

export class AutomationRunObject extends RunObject {
  constructor(state: DurableObjectState, bindings: Env) {
    super(state, watching(bindings, 'object'));
  }
}

export default {
  async fetch(request, bindings, execution) {
    if (new URL(request.url).pathname === '/recorded') return Response.json(calls.splice(0));
    return service.fetch(request as never, watching(bindings, 'request'), execution);
  },
  queue: (batch, bindings, execution) => service.queue(batch, watching(bindings, 'queue'), execution),
} satisfies ExportedHandler<Env>;
