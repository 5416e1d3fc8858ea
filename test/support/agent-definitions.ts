/** The smallest valid agent. */
export const validDefinition = { nodes: [{ id: 'start', type: 'startCall', data: { prompt: 'Talk.' } }], edges: [] };

/** One that has a problem at its node and another at its edge. */
export const invalidDefinition = {
  nodes: [{ id: 'start', type: 'startCall', data: { prompt: '' } }],
  edges: [{ id: 'lost', source: 'start', target: 'nowhere', data: { label: 'go', condition: 'always' } }],
};
