import type { Context } from '../../context.ts';
import { calendar, type CalendarEvent, type EventToCreate } from '../../providers/apps/calendar.ts';
import { withConnection, type ActionFailure } from './run-action.ts';

/** Creates an event. A repeat with the same key returns the existing event. */
export const createEvent = (context: Context, event: EventToCreate): Promise<CalendarEvent | ActionFailure> =>
  withConnection(context, 'calendar', async ({ connection }) => {
    const outcome = await calendar(connection).createEvent(event);
    return 'failure' in outcome ? outcome : outcome.event;
  });
