/** Greets, asks for interest and a day, ends. */
export const salesAgent = {
  nodes: [
    {
      id: 'start',
      type: 'startCall',
      position: { x: 0, y: 0 },
      data: {
        name: 'Greeting',
        prompt: 'You call {{first_name}} about the spring offer. Ask whether they are interested.',
        greeting: 'Hello {{first_name | default: "there"}}, this is Acme about the spring offer. Are you interested?',
      },
    },
    {
      id: 'book',
      type: 'agentNode',
      position: { x: 0, y: 200 },
      data: {
        name: 'Booking',
        prompt: 'Ask which day suits them.',
        extraction_enabled: true,
        extraction_variables: [{ name: 'preferred_day', type: 'string', prompt: 'the day they want' }],
      },
    },
    { id: 'bye', type: 'endCall', position: { x: 0, y: 400 }, data: { name: 'Goodbye', prompt: 'Thank them and say goodbye.' } },
  ],
  edges: [
    { id: 'e1', source: 'start', target: 'book', data: { label: 'interested', condition: 'the person says yes or is interested' } },
    { id: 'e2', source: 'start', target: 'bye', data: { label: 'not interested', condition: 'the person says no or is not interested' } },
    { id: 'e3', source: 'book', target: 'bye', data: { label: 'day chosen', condition: 'the person named a day' } },
  ],
};
