import type { Json } from '../../library/json/json.ts';
import type { ToolCall } from '../../providers/language-model/contract.ts';
import type { AgentEdge } from '../definition/schemas.ts';
import { extractVariables, promptsReadVariables } from './extraction.ts';
import { runLookupTool } from './run-lookup-tool.ts';
import type { ToolOffer } from './tool-offers.ts';
import type { NewEvent, NewMessage } from './record.ts';
import { getNode, renderLenient, buildTemplateScope, type ConversationContext } from './conversation-context.ts';
import type { SpeechOutput } from './speech-output.ts';

/** Nobody listens to a longer silence; what comes later is there for the turn after. */
const maxExtractionWaitMs = 3_000;

/** Whether what comes back may still decide something, and who speaks. */
interface TurnState {
  readonly isCurrent: boolean;
  readonly speech: SpeechOutput;
}

interface RequestedToolCalls {
  calls: ToolCall[];
  offers: ToolOffer[];
}

/**
 * Does what the model asks for: first what finds something out, all at once, then the first of the calls that lead on or end the call. What
 * comes back late is written and decides nothing.
 */
export async function runToolCalls(
  context: ConversationContext,
  turn: TurnState,
  { calls, offers }: RequestedToolCalls,
  isRepeated: boolean,
): Promise<void> {
  const decides = (call: ToolCall): boolean => ['edge', 'end_call'].includes(findOffer(offers, call)?.kind ?? '');
  const findings = calls.filter((call) => !decides(call)).map((call) => runLookup(context, turn, call, offers, isRepeated));
  if (findings.length > 0) await Promise.all(findings);
  if (!turn.isCurrent) return;
  const [first, ...others] = calls.filter(decides);
  const offer = first && findOffer(offers, first);
  if (!offer) return;
  const messages = [toToolMessage(first, { status: 'ok' }), ...others.map((call) => toToolMessage(call, { status: 'not done' }))];
  if (offer.kind === 'edge') return followEdge(context, turn, offer.edge, messages);
  context.record.write({ closing: 'end_call' }, { messages, events: [{ type: 'end_call' }] });
}

const findOffer = (offers: ToolOffer[], { name }: ToolCall): ToolOffer | undefined => offers.find(({ tool }) => tool.name === name);

const toToolMessage = (call: ToolCall, answer: Json): NewMessage => ({
  role: 'tool',
  text: typeof answer === 'string' ? answer : JSON.stringify(answer),
  toolCallId: call.id,
});

/** A call that is under way already, as when only the line was lost, is waited for and not made again. */
function runLookup(context: ConversationContext, turn: TurnState, call: ToolCall, offers: ToolOffer[], isRepeated: boolean): Promise<void> {
  const underWay = context.inFlight.get(call.id);
  if (underWay) return underWay;
  const begun = context.dependencies.now();
  const nodeId = context.record.state.nodeId;
  const finding = runLookupTool(context, call, offers, isRepeated).then(({ answer, logDetails: more }) => {
    context.inFlight.delete(call.id);
    const late = turn.isCurrent ? {} : { is_late: true };
    const payload = {
      name: call.name,
      arguments: call.arguments,
      answer,
      ...more,
      ...late,
      duration_ms: context.dependencies.now() - begun,
    };
    context.record.write({}, { messages: [toToolMessage(call, answer)], events: [{ type: 'tool_called', payload, nodeId }] });
  });
  context.inFlight.set(call.id, finding);
  return finding;
}

/** Goes along an edge. What is to be taken from the talk before is waited for only when the agent is told of it where it comes to. */
async function followEdge(
  context: ConversationContext,
  { speech: voice }: TurnState,
  edge: AgentEdge,
  answers: NewMessage[],
): Promise<void> {
  const { record } = context;
  const left = getNode(context);
  const entered = getNode(context, edge.target);
  const { nodesVisited } = record.state;
  const speech = edge.data.transition_speech ? renderLenient(edge.data.transition_speech, buildTemplateScope(context)).trim() : '';
  if (speech !== '') voice.speak(speech);
  const events: NewEvent[] = [
    { type: 'edge_taken', payload: { edge_id: edge.id, label: edge.data.label, target: edge.target } },
    ...(speech === '' ? [] : [{ type: 'agent_said', payload: { text: speech } }]),
    { type: 'node_entered', nodeId: entered.id },
  ];
  record.write(
    {
      nodeId: entered.id,
      nodesVisited: nodesVisited.includes(entered.id) ? nodesVisited : [...nodesVisited, entered.id],
      closing: entered.type === 'endCall' ? 'end_node' : null,
    },
    { messages: [...answers, ...(speech === '' ? [] : [{ role: 'assistant' as const, text: speech }])], events },
  );
  if (!left.data.extraction_enabled) return;
  const extraction = extractVariables(context, left).finally(() => context.background.delete(extraction));
  context.background.add(extraction);
  // Only a store that is broken fails here, and whoever writes next finds that out.
  extraction.catch(() => {});
  if (promptsReadVariables(context, left.data.extraction_variables))
    await Promise.race([extraction, context.dependencies.sleep(maxExtractionWaitMs)]);
}
