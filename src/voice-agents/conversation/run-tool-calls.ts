import type { Json } from '../../library/json/json.ts';
import type { ToolCall } from '../../providers/language-model/contract.ts';
import type { TalkNode } from '../definition/definition.ts';
import type { AgentEdge } from '../definition/schemas.ts';
import { extractVariables, promptsReadVariables } from './extraction.ts';
import { runLookupTool } from './run-lookup-tool.ts';
import type { ToolOffer } from './tool-offers.ts';
import type { NewEvent, NewMessage } from './record.ts';
import { getNode, renderLenient, buildTemplateScope, type ConversationContext } from './conversation-context.ts';
import type { SpeechOutput } from './speech-output.ts';
import { requestTransfer } from './request-transfer.ts';

/** The person does not wait longer; a later extraction serves the next turn. */
const maxExtractionWaitMs = 3_000;

/** The turn for which tools run: whether it is still the newest, and its speech. */
interface TurnState {
  readonly isCurrent: boolean;
  readonly speech: SpeechOutput;
}

interface RequestedToolCalls {
  calls: ToolCall[];
  offers: ToolOffer[];
}

/**
 * Runs the tool calls of the model: all lookups at once, then the first call that follows an edge, hands over or ends the call. An answer that comes after the
 * turn has ended is stored and decides nothing.
 */
export async function runToolCalls(
  context: ConversationContext,
  turn: TurnState,
  { calls, offers }: RequestedToolCalls,
  isRepeated: boolean,
): Promise<void> {
  const decides = (call: ToolCall): boolean => ['edge', 'end_call', 'transfer'].includes(findOffer(offers, call)?.kind ?? '');
  const findings = calls.filter((call) => !decides(call)).map((call) => runLookup(context, turn, call, offers, isRepeated));
  if (findings.length > 0) await Promise.all(findings);
  if (!turn.isCurrent) return;
  const [first, ...others] = calls.filter(decides);
  const offer = first && findOffer(offers, first);
  if (!offer) return;
  const declined = others.map((call) => toToolMessage(call, { status: 'not done' }));
  if (offer.kind === 'transfer')
    return requestTransfer(context, turn.speech, {
      nodeId: offer.nodeId,
      tool: offer.name,
      toolCallId: first.id,
      messages: declined,
      events: [],
    });
  if (offer.kind === 'edge' && context.setup.definition.transfers.has(offer.edge.target))
    return followEdgeToTransfer(context, turn, offer.edge, first, declined);
  const messages = [toToolMessage(first, { status: 'ok' }), ...declined];
  if (offer.kind === 'edge') return followEdge(context, turn, offer.edge, messages);
  context.record.write({ closing: 'end_call' }, { messages, events: [{ type: 'end_call' }] });
}

const findOffer = (offers: ToolOffer[], { name }: ToolCall): ToolOffer | undefined => offers.find(({ tool }) => tool.name === name);

const toToolMessage = (call: ToolCall, answer: Json): NewMessage => ({
  role: 'tool',
  text: typeof answer === 'string' ? answer : JSON.stringify(answer),
  toolCallId: call.id,
});

/** Runs a lookup once: after a lost line the turn waits for the call that is already running. */
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

/** Follows an edge. The turn waits for the extraction of the node before only when a prompt of the next node reads its variables. */
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
  const extraction = startExtraction(context, left);
  if (!extraction) return;
  if (promptsReadVariables(context, left.data.extraction_variables))
    await Promise.race([extraction, context.dependencies.sleep(maxExtractionWaitMs)]);
}

/** Extracts the variables of a node that is left. Undefined: it has none. */
function startExtraction(context: ConversationContext, left: TalkNode): Promise<void> | undefined {
  if (!left.data.extraction_enabled) return undefined;
  const extraction = extractVariables(context, left).finally(() => context.background.delete(extraction));
  context.background.add(extraction);
  // Only a broken store fails here, and the next write reports that.
  extraction.catch(() => {});
  return extraction;
}

/** Follows an edge to a transfer node. The talk stays at the node before until the transfer has failed. */
function followEdgeToTransfer(
  context: ConversationContext,
  { speech: voice }: TurnState,
  edge: AgentEdge,
  call: ToolCall,
  declined: NewMessage[],
): Promise<void> {
  const { nodesVisited } = context.record.state;
  const { target } = edge;
  const speech = edge.data.transition_speech ? renderLenient(edge.data.transition_speech, buildTemplateScope(context)).trim() : '';
  if (speech !== '') voice.speak(speech);
  void startExtraction(context, getNode(context));
  return requestTransfer(context, voice, {
    nodeId: target,
    tool: null,
    toolCallId: call.id,
    change: { nodesVisited: nodesVisited.includes(target) ? nodesVisited : [...nodesVisited, target] },
    messages: [...declined, ...(speech === '' ? [] : [{ role: 'assistant' as const, text: speech }])],
    events: [
      { type: 'edge_taken', payload: { edge_id: edge.id, label: edge.data.label, target } },
      ...(speech === '' ? [] : [{ type: 'agent_said', payload: { text: speech } }]),
      { type: 'node_entered', nodeId: target },
    ],
  });
}
