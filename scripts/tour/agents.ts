import { readExample } from './examples.ts';
import type { Tour } from './step.ts';

/** A file in `examples/agents/`: the body of `POST /workflow/create/definition`. */
export interface AgentFile {
  name: string;
  workflow_definition: { nodes: { type: string; data: object }[]; edges: object[] };
  template_context_variables: object;
  call_disposition_codes: object;
}

/** The files of `examples/agents/`. */
export const agentNames = [
  'abandoned-cart',
  'appointment-reminder',
  'new-lead',
  'payment-failed',
  'renewal-notice',
  'win-back',
  'spring-offer',
  'help-desk',
  'willing-customer',
];

export const readAgent = (name: string): AgentFile => JSON.parse(readExample(`agents/${name}.json`)) as AgentFile;

const answering = new Set(['startCall', 'agentNode']);

/** The agent with documents to answer from, wherever it answers. */
export const withDocuments = (file: AgentFile, uuids: string[]): AgentFile => ({
  ...file,
  workflow_definition: {
    ...file.workflow_definition,
    nodes: file.workflow_definition.nodes.map((node) =>
      answering.has(node.type) ? { ...node, data: { ...node.data, document_uuids: uuids } } : node,
    ),
  },
});

interface Agent {
  id: number;
  name: string;
  current_definition_id: number;
}

/** The agent of an earlier tour, brought up to date, or a new one. `completed` puts into its file what only this tour knows. */
export async function findAgent(
  { service }: Tour,
  file: string,
  completed: (agent: AgentFile) => AgentFile = (agent) => agent,
): Promise<Agent & { isNew: boolean }> {
  const example = completed(readAgent(file));
  const agent = { ...example, name: `Tour: ${example.name}` };
  const { workflows } = await service.get<{ workflows: Agent[] }>(`/workflow?limit=500&search=${encodeURIComponent(agent.name)}`);
  const known = workflows.find(({ name }) => name === agent.name);
  if (known) return { ...(await service.put<Agent>(`/workflow/${known.id}`, agent)), isNew: false };
  return { ...(await service.post<Agent>('/workflow/create/definition', agent)), isNew: true };
}
