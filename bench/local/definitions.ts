/** Trigger, condition, set_context, exit. */
export const shortJourney = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'large', type: 'condition', data: { condition: { field: 'total', operator: 'gt', value: 100 } } },
    { id: 'set', type: 'set_context', data: { assign: { size: 'large', doubled: '{{ total | times: 2 }}' } } },
    { id: 'out', type: 'exit', data: { outcome: 'seen' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'large' },
    { id: 'b', source: 'large', target: 'set', source_handle: 'true' },
    { id: 'c', source: 'large', target: 'out', source_handle: 'false' },
    { id: 'd', source: 'set', target: 'out' },
  ],
};

/** What journeys on webhooks mostly do: decide, compute, note something on the contact, tell another system, end. */
export const typicalJourney = (receiver: string) => ({
  nodes: [
    ...shortJourney.nodes.slice(0, 3),
    { id: 'note', type: 'update_contact', data: { set: { 'custom_fields.last_order': '{{ order_id }}' }, add_tags: ['buyer'] } },
    {
      id: 'tell',
      type: 'http_request',
      data: { url: `${receiver}/service`, body: { order: '{{ order_id }}', size: '{{ size }}', contact: '{{ contact.external_id }}' } },
    },
    { id: 'out', type: 'exit', data: { outcome: 'told' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'large' },
    { id: 'b', source: 'large', target: 'set', source_handle: 'true' },
    { id: 'c', source: 'set', target: 'note' },
    { id: 'd', source: 'note', target: 'tell' },
    { id: 'e', source: 'tell', target: 'out' },
  ],
});

/** Sleeps until an event of the type names the contact. */
export const waitingJourney = (eventType: string) => ({
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    {
      id: 'wait',
      type: 'wait_for_event',
      data: { event_types: [eventType], match: { field: 'data.customer', value: '{{ contact.external_id }}' }, timeout: 'P1D' },
    },
    { id: 'woken', type: 'exit', data: { outcome: 'woken' } },
    { id: 'late', type: 'exit', data: { outcome: 'late' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'wait' },
    { id: 'b', source: 'wait', target: 'woken', source_handle: 'received' },
    { id: 'c', source: 'wait', target: 'late', source_handle: 'timeout' },
  ],
});

export const sleepingJourney = {
  nodes: [
    { id: 'in', type: 'trigger', data: {} },
    { id: 'sleep', type: 'wait', data: { duration: 'P7D' } },
    { id: 'out', type: 'exit', data: { outcome: 'slept' } },
  ],
  edges: [
    { id: 'a', source: 'in', target: 'sleep' },
    { id: 'b', source: 'sleep', target: 'out' },
  ],
};
