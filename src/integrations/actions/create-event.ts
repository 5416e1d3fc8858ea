import type { Context } from '../../context.ts';
import { calendar, type CalendarEvent, type EventToCreate } from '../../providers/apps/calendar.ts';
import { withConnection, type ActionFailure } from './run-action.ts';

/** Makes an event; asked again under its key, it is the same one. */
export const createEvent = (context: Context, event: EventToCreate): Promise<CalendarEvent | ActionFailure> =>
  withConnection(context, 'calendar', async ({ connection }) => {
    const outcome = await calendar(connection).createEvent(event);
    return 'failure' in outcome ? outcome : outcome.event;
  });
