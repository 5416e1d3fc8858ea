import type { Tool } from '../../providers/language-model/language-model.ts';
import type { AgentEdge, AgentTool } from '../definition/schemas.ts';
import { endCallTool, knowledgeTool, toolNameOf } from '../definition/tool-name.ts';
import { edgesFrom, nodeOf, renderAnyway, scopeOf, type Talk } from './talk.ts';

/** A tool that the model may call where the conversation stands, and what calling it means. */
export type Offer = { tool: Tool } & (
  | { kind: 'edge'; edge: AgentEdge }
  | { kind: 'http'; http: AgentTool['http'] }
  | { kind: 'retrieve'; documentUuids: string[] | null }
  | { kind: 'end_call' }
);

const noParameters = { type: 'object', properties: {}, additionalProperties: false };

/** Where the agent says its goodbye there is nothing to call. */
export function offersAt(talk: Talk): Offer[] {
  const { id, type, data } = nodeOf(talk);
  if (type === 'endCall') return [];
  const scope = scopeOf(talk);
  const edges = edgesFrom(talk, id).map((edge): Offer => {
    const description = renderAnyway(edge.data.condition, scope);
    return { kind: 'edge', edge, tool: { name: toolNameOf(edge.data.label), description, parameters: noParameters } };
  });
  const tools = data.tools.map(({ name, description, parameters, http }): Offer => ({
    kind: 'http',
    http,
    tool: { name, description, parameters },
  }));
  const hasDocuments = data.knowledge_base || data.document_uuids.length > 0;
  const retrieval = talk.world.retrieve && hasDocuments ? [retrieve(data.knowledge_base ? null : data.document_uuids)] : [];
  // An edge that is called so leads to the goodbye that its author wrote.
  const isTaken = edges.some(({ tool }) => tool.name === endCallTool);
  return [...edges, ...tools, ...retrieval, ...(isTaken ? [] : [endCall])];
}

const endCall: Offer = {
  kind: 'end_call',
  tool: {
    name: endCallTool,
    description: 'The person says goodbye or wants to hang up. Say goodbye in the same answer.',
    parameters: noParameters,
  },
};

const longestQuery = 500;

const retrieve = (documentUuids: string[] | null): Offer => ({
  kind: 'retrieve',
  documentUuids,
  tool: {
    name: knowledgeTool,
    description: 'Finds facts in the documents of the organization. Use it before answering what these instructions do not tell.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', maxLength: longestQuery, description: 'What to find out, as a whole question' } },
      required: ['query'],
      additionalProperties: false,
    },
  },
});
