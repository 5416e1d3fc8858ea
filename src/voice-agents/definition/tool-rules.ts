import type { Issue } from '../../library/errors.ts';
import { isRecord } from '../../library/json/json.ts';
import type { ShapedEdge, ShapedNode } from './graph-rules.ts';
import { definitionIssue } from './issues.ts';

/** OpenAI accepts 128 functions in a request; the service adds a few of its own. */
const maxTools = 100;

interface LabelledEdge extends ShapedEdge {
  data: unknown;
}

/** Checks that the tool names of a node differ: those of its edges, made from their labels, and those of its tools. */
export function toolIssues(nodes: ShapedNode[], edges: LabelledEdge[]): Issue[] {
  const leaving = Map.groupBy(edges, ({ source }) => source);
  return nodes.flatMap((node) => nodeIssues(node, leaving.get(node.id) ?? []));
}

function nodeIssues(node: ShapedNode, edges: LabelledEdge[]): Issue[] {
  const tools = Array.isArray(node.data['tools']) ? (node.data['tools'] as unknown[]) : [];
  const taken = new Map<string, string>();
  const issues: Issue[] = [];
  const take = (name: string, owner: string, loc: string[], fix: string) => {
    const other = taken.get(name);
    if (other === undefined) taken.set(name, owner);
    else issues.push(definitionIssue(loc, `${owner} has the tool name "${name}", which ${other} has, too; ${fix}`));
  };
  for (const edge of edges) {
    const label = isRecord(edge.data) && typeof edge.data['label'] === 'string' ? edge.data['label'] : '';
    if (label.trim() === '') continue;
    const loc = ['edges', edge.id, 'data', 'label'];
    const fault = labelProblem(label);
    if (fault !== null) issues.push(definitionIssue(loc, fault));
    else take(toToolName(label), `Edge "${edge.id}"`, loc, `labels of edges from "${node.id}" must differ in letters or digits`);
  }
  for (const [index, tool] of tools.entries())
    if (isRecord(tool) && typeof tool['name'] === 'string')
      take(tool['name'], `Tool ${index}`, ['nodes', node.id, 'data', 'tools', String(index), 'name'], 'choose another name');
  if (edges.length + tools.length > maxTools)
    issues.push(definitionIssue(['nodes', node.id], `A node has at most ${maxTools} edges and tools together; split "${node.id}"`));
  return issues;
}

function labelProblem(label: string): string | null {
  const name = toToolName(label);
  if (name === '')
    return `The model is given the label "${label}" as a name, so it needs Latin letters or digits; the condition may be in any language`;
  if (name.length > 64) return `The label is too long for a name: "${name}" has more than 64 characters; shorten it`;
  return name === knowledgeTool ? `"${name}" is the tool that looks things up; choose another label` : null;
}

/** The names of functions that OpenAI accepts (https://platform.openai.com/docs/api-reference/chat/create). */
export const toolNamePattern = /^[A-Za-z0-9_-]{1,64}$/;

export const endCallTool = 'end_call';
export const knowledgeTool = 'search_knowledge_base';

/**
 * The name of the tool that follows an edge: "Not interested!" is `not_interested`. Empty when the label has neither Latin letters nor digits.
 */
export const toToolName = (label: string): string =>
  label
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
