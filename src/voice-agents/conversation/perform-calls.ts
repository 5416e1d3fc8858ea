import type { Json } from '../../library/json.ts';
import type { ToolCall } from '../../providers/language-model/language-model.ts';
import type { AgentEdge } from '../definition/schemas.ts';
import { extract, readsVariables } from './extraction.ts';
import { lookUp } from './look-up.ts';
import type { Offer } from './offers.ts';
import type { NewEvent, NewMessage } from './record.ts';
import { nodeOf, renderAnyway, scopeOf, type Talk } from './talk.ts';
import type { Voice } from './voice.ts';

/** Nobody listens to a longer silence; what comes later is there for the turn after. */
const patienceMs = 3_000;

/** Whether what comes back may still decide something, and who speaks. */
interface Performer {
  readonly isCurrent: boolean;
  readonly voice: Voice;
}

interface Asked {
  calls: ToolCall[];
  offers: Offer[];
}

/**
 * Does what the model asks for: first what finds something out, all at once, then the first of the calls that lead on or end the call. What
 * comes back late is written and decides nothing.
 */
export async function performCalls(talk: Talk, turn: Performer, { calls, offers }: Asked, isRepeated: boolean): Promise<void> {
  const decides = (call: ToolCall): boolean => ['edge', 'end_call'].includes(offerOf(offers, call)?.kind ?? '');
  const findings = calls.filter((call) => !decides(call)).map((call) => findOut(talk, turn, call, offers, isRepeated));
  if (findings.length > 0) await Promise.all(findings);
  if (!turn.isCurrent) return;
  const [first, ...others] = calls.filter(decides);
  const offer = first && offerOf(offers, first);
  if (!offer) return;
  const messages = [answerTo(first, { status: 'ok' }), ...others.map((call) => answerTo(call, { status: 'not done' }))];
  if (offer.kind === 'edge') return follow(talk, turn, offer.edge, messages);
  talk.record.write({ closing: 'end_call' }, { messages, events: [{ type: 'end_call' }] });
}

const offerOf = (offers: Offer[], { name }: ToolCall): Offer | undefined => offers.find(({ tool }) => tool.name === name);

const answerTo = (call: ToolCall, answer: Json): NewMessage => ({
  role: 'tool',
  text: typeof answer === 'string' ? answer : JSON.stringify(answer),
  toolCallId: call.id,
});

/** A call that is under way already, as when only the line was lost, is waited for and not made again. */
function findOut(talk: Talk, turn: Performer, call: ToolCall, offers: Offer[], isRepeated: boolean): Promise<void> {
  const underWay = talk.inFlight.get(call.id);
  if (underWay) return underWay;
  const begun = talk.world.now();
  const nodeId = talk.record.state.nodeId;
  const finding = lookUp(talk, call, offers, isRepeated).then(({ answer, more }) => {
    talk.inFlight.delete(call.id);
    const late = turn.isCurrent ? {} : { is_late: true };
    const payload = { name: call.name, arguments: call.arguments, answer, ...more, ...late, duration_ms: talk.world.now() - begun };
    talk.record.write({}, { messages: [answerTo(call, answer)], events: [{ type: 'tool_called', payload, nodeId }] });
  });
  talk.inFlight.set(call.id, finding);
  return finding;
}

/** Goes along an edge. What is to be taken from the talk before is waited for only when the agent is told of it where it comes to. */
async function follow(talk: Talk, { voice }: Performer, edge: AgentEdge, answers: NewMessage[]): Promise<void> {
  const { record } = talk;
  const left = nodeOf(talk);
  const entered = nodeOf(talk, edge.target);
  const { nodesVisited } = record.state;
  const speech = edge.data.transition_speech ? renderAnyway(edge.data.transition_speech, scopeOf(talk)).trim() : '';
  if (speech !== '') voice.utter(speech);
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
  const extraction = extract(talk, left).finally(() => talk.background.delete(extraction));
  talk.background.add(extraction);
  // Only a store that is broken fails here, and whoever writes next finds that out.
  extraction.catch(() => {});
  if (readsVariables(talk, left.data.extraction_variables)) await Promise.race([extraction, talk.world.sleep(patienceMs)]);
}
