import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { maxEventTypeLength } from '../../../library/event-type.ts';
import { renderDeep, renderText } from '../../../expressions/templates/render.ts';
import type { Json } from '../../../library/json/json.ts';
import { actionHandles, defineNode, failure } from '../contract.ts';
import { performEffect } from '../shared/perform-effect.ts';

export const emitEventNode = defineNode({
  type: 'emit_event',
  label: 'Emit event',
  description: "Stores an event for the run's contact, as POST /events does; other journeys may start from it.",
  dataSchema: configObject({ event_type: z.string().min(1).max(1000), data: z.record(z.string(), z.unknown()).default({}) }),
  handles: actionHandles,
  isSideEffect: true,
  comesOutTheSame: true,
  example: { event_type: 'order_reviewed', data: { order: '{{ data.order_id }}' } },
  run: async (step) => {
    const eventType = renderText(step.data.event_type, step.scope).trim();
    if (eventType === '' || eventType.length > maxEventTypeLength)
      return failure(
        'invalid_event_type',
        `Event type ${JSON.stringify(eventType.slice(0, maxEventTypeLength))} must have 1 to ${maxEventTypeLength} characters`,
      );
    const event = { event_type: eventType, data: renderDeep(step.data.data, step.scope) as Record<string, Json> };
    return performEffect(step, event, () => step.effects.emitEvent(step.key, event));
  },
});
