import { renderText, TemplateError, type Scope } from '../../automation-workflows/templates.ts';
import { toTimestamp } from '../../library/clock.ts';
import type { TalkNode } from '../definition/definition.ts';
import type { AgentEdge } from '../definition/schemas.ts';
import type { ConversationSetup, Say, Surroundings } from './contract.ts';
import { gatheredContext } from './gathered-context.ts';
import type { ConversationRecord } from './record.ts';

/** What the turns of one conversation share while its object lives. */
export interface Talk {
  setup: ConversationSetup;
  record: ConversationRecord;
  world: Surroundings;
  say: Say;
  /** Tool calls that have not been answered yet, by id. */
  inFlight: Map<string, Promise<void>>;
  /** Extractions that nobody waits for. */
  background: Set<Promise<void>>;
}

export function nodeOf({ setup, record }: Talk, id = record.state.nodeId): TalkNode {
  const node = setup.definition.talkNodes.get(id);
  if (!node) throw new Error(`the definition has no node "${id}"`);
  return node;
}

export const edgesFrom = ({ setup }: Talk, nodeId: string): AgentEdge[] => setup.definition.edges.filter(({ source }) => source === nodeId);

/** What templates read: the initial context and what was extracted by their names, and the roots. */
export function scopeOf({ setup, record, world }: Talk): Scope {
  const { state } = record;
  return {
    ...setup.initialContext,
    ...state.extracted,
    initial_context: setup.initialContext,
    gathered_context: gatheredContext(state),
    organization: setup.organization,
    now: toTimestamp(world.now()),
  };
}

/** A template that fails on a value does not end a call: what is left of it without its tags is said. */
export function renderAnyway(template: string, scope: Scope): string {
  try {
    return renderText(template, scope);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return withoutTags(template)
      .replace(/[ \t]{2,}/g, ' ')
      .trim();
  }
}

/** In one pass: a tag that is not closed is left as it is, and no other of its kind is looked for. */
function withoutTags(template: string): string {
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
