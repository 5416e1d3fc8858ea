import type { Tool } from '../../providers/language-model/contract.ts';
import type { AgentEdge, AgentTool } from '../definition/schemas.ts';
import { endCallTool, knowledgeTool, toToolName } from '../definition/tool-rules.ts';
import { buildTemplateScope, type ConversationContext, getNode, listEdgesFrom, renderLenient } from './conversation-context.ts';
import type { AgentDefinition } from '../definition/definition.ts';
import type { ToolMock } from './contract.ts';

/** A tool that the model may call at the current node, and the effect of calling it. */
export type ToolOffer = { tool: Tool } & (
  | { kind: 'edge'; edge: AgentEdge }
  | { kind: 'http'; http: NonNullable<AgentTool['http']> }
  | { kind: 'transfer'; nodeId: string; name: string }
  | { kind: 'retrieve'; documentUuids: string[] | null }
  | { kind: 'end_call' }
);

const noParameters = { type: 'object', properties: {}, additionalProperties: false };

/** The tools of the current node. An endCall node has none. */
export function listToolOffers(context: ConversationContext): ToolOffer[] {
  const { id, type, data } = getNode(context);
  if (type === 'endCall') return [];
  const scope = buildTemplateScope(context);
  const edges = listEdgesFrom(context, id).map((edge): ToolOffer => {
    const description = renderLenient(edge.data.condition, scope);
    return { kind: 'edge', edge, tool: { name: toToolName(edge.data.label), description, parameters: noParameters } };
  });
  const tools = data.tools.map(({ name, description, parameters, http }): ToolOffer =>
    http
      ? { kind: 'http', http, tool: { name, description, parameters } }
      : { kind: 'transfer', nodeId: id, name, tool: { name, description, parameters: noParameters } },
  );
  const hasDocuments = data.knowledge_base || data.document_uuids.length > 0;
  const retrieval =
    context.dependencies.retrieve && hasDocuments ? [toRetrieveOffer(data.knowledge_base ? null : data.document_uuids)] : [];
  // An edge with the name of `end_call` takes its place: it leads to the goodbye of the agent's author.
  const isTaken = edges.some(({ tool }) => tool.name === endCallTool);
  return [...edges, ...tools, ...retrieval, ...(isTaken ? [] : [endCallOffer])];
}

const endCallOffer: ToolOffer = {
  kind: 'end_call',
  tool: {
    name: endCallTool,
    description: 'The person says goodbye or wants to hang up. Say goodbye in the same answer.',
    parameters: noParameters,
  },
};

const maxQueryLength = 500;

const toRetrieveOffer = (documentUuids: string[] | null): ToolOffer => ({
  kind: 'retrieve',
  documentUuids,
  tool: {
    name: knowledgeTool,
    description: 'Finds facts in the documents of the organization. Use it before answering what these instructions do not tell.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', maxLength: maxQueryLength, description: 'What to find out, as a whole question' } },
      required: ['query'],
      additionalProperties: false,
    },
  },
});

/** The names of mocks for which the agent has no tool. After a typo the tool itself would not be mocked. */
export function findUnknownMocks({ talkNodes }: AgentDefinition, mocks: readonly ToolMock[]): string[] {
  const names = new Set([knowledgeTool, ...[...talkNodes.values()].flatMap(({ data }) => data.tools.map(({ name }) => name))]);
  return mocks.map(({ name }) => name).filter((name) => !names.has(name));
}
