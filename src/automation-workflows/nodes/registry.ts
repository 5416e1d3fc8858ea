import type { NodeType } from './contract.ts';
import { calendarEventNode } from './calendar-event.ts';
import { chatappMessageNode } from './chatapp-message.ts';
import { conditionNode } from './condition.ts';
import { emitEventNode } from './emit-event.ts';
import { exitNode } from './exit.ts';
import { httpRequestNode } from './http-request.ts';
import { knowledgeSearchNode } from './knowledge-search.ts';
import { listMembershipNode } from './list-membership.ts';
import { llmNode } from './llm.ts';
import { runWorkflowNode } from './run-workflow.ts';
import { sendMessageNode } from './send-message.ts';
import { setContextNode } from './set-context.ts';
import { sheetRowNode } from './sheet-row.ts';
import { splitNode } from './split.ts';
import { switchNode } from './switch.ts';
import { trackerIssueNode } from './tracker-issue.ts';
import { triggerNode } from './trigger.ts';
import { updateContactNode } from './update-contact.ts';
import { voiceCallNode } from './voice-call.ts';
import { waitForEventNode } from './wait-for-event.ts';
import { waitNode } from './wait.ts';

export type NodeRegistry = ReadonlyMap<string, NodeType>;

/** Every node type by its name. A new one is one file beside this and one line here. */
export const nodeTypes: NodeRegistry = new Map(
  [
    triggerNode,
    conditionNode,
    switchNode,
    splitNode,
    waitNode,
    waitForEventNode,
    setContextNode,
    updateContactNode,
    listMembershipNode,
    emitEventNode,
    httpRequestNode,
    knowledgeSearchNode,
    llmNode,
    runWorkflowNode,
    voiceCallNode,
    sendMessageNode,
    chatappMessageNode,
    trackerIssueNode,
    calendarEventNode,
    sheetRowNode,
    exitNode,
  ].map((type): [string, NodeType] => [type.type, type]),
);

export const findNodeType = (type: string): NodeType | undefined => nodeTypes.get(type);
