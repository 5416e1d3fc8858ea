import { renderText, type Scope, TemplateError } from '../../expressions/templates/render.ts';
import { toTimestamp } from '../../library/time/clock.ts';
import type { TalkNode } from '../definition/definition.ts';
import type { AgentEdge } from '../definition/schemas.ts';
import type { ConversationDependencies, ConversationSetup, ConversationState, SpeechSink } from './contract.ts';
import type { ConversationRecord } from './record.ts';

/** What the turns of a conversation share while its object is in memory. */
export interface ConversationContext {
  setup: ConversationSetup;
  record: ConversationRecord;
  dependencies: ConversationDependencies;
  say: SpeechSink;
  /** Running tool calls, by id. */
  inFlight: Map<string, Promise<void>>;
  /** Running extractions. No turn waits for them. */
  background: Set<Promise<void>>;
}

export function getNode({ setup, record }: ConversationContext, id = record.state.nodeId): TalkNode {
  const node = setup.definition.talkNodes.get(id);
  if (!node) throw new Error(`the definition has no node "${id}"`);
  return node;
}

export const listEdgesFrom = ({ setup }: ConversationContext, nodeId: string): AgentEdge[] =>
  setup.definition.edges.filter(({ source }) => source === nodeId);

/** The values that templates read: the initial context and the extracted variables by their names, and the roots. */
export function buildTemplateScope({ setup, record, dependencies }: ConversationContext): Scope {
  const { state } = record;
  return {
    ...setup.initialContext,
    ...state.extracted,
    initial_context: setup.initialContext,
    gathered_context: toGatheredContext(state),
    organization: setup.organization,
    now: toTimestamp(dependencies.now()),
  };
}

/** Renders a template. A template that fails on a value does not end the call: its text without the tags is used. */
export function renderLenient(template: string, scope: Scope): string {
  try {
    return renderText(template, scope);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return stripTags(template)
      .replace(/[ \t]{2,}/g, ' ')
      .trim();
  }
}

/** Removes closed tags in one pass. An unclosed tag stays, and later openers of its kind are skipped. */
function stripTags(template: string): string {
  const closers = new Map([
    ['{{', '}}'],
    ['{%', '%}'],
  ]);
  let left = '';
  let at = 0;
  for (let open = template.indexOf('{'); open !== -1; open = template.indexOf('{', Math.max(open + 1, at))) {
    const opener = template.slice(open, open + 2);
    const closer = closers.get(opener);
    if (closer === undefined) continue;
    const end = template.indexOf(closer, open + 2);
    if (end === -1) closers.delete(opener);
    else {
      left += template.slice(at, open);
      at = end + 2;
    }
  }
  return left + template.slice(at);
}

/** The gathered context of a run record, but for `call_status`, which is the outcome of the line and not known here. */
export const toGatheredContext = ({ nodesVisited, extracted, conclusion }: ConversationState): Record<string, unknown> => ({
  ...extracted,
  call_disposition: conclusion?.disposition ?? null,
  call_tags: conclusion?.tags ?? [],
  nodes_visited: nodesVisited,
  extracted_variables: extracted,
});
