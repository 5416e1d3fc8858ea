import type { ConversationState } from './contract.ts';

/** What the conversation has gathered, as the run record shows it; `call_status` is what the line did, and is not known here. */
export const toGatheredContext = ({ nodesVisited, extracted, conclusion }: ConversationState): Record<string, unknown> => ({
  ...extracted,
  call_disposition: conclusion?.disposition ?? null,
  call_tags: conclusion?.tags ?? [],
  nodes_visited: nodesVisited,
  extracted_variables: extracted,
});
