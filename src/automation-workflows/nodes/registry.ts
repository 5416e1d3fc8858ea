import { z } from 'zod';
import type { NodeType } from './contract.ts';
import { calendarEventNode } from './types/calendar-event.ts';
import { chatappMessageNode } from './types/chatapp-message.ts';
import { conditionNode } from './types/condition.ts';
import { emitEventNode } from './types/emit-event.ts';
import { exitNode } from './types/exit.ts';
import { httpRequestNode } from './types/http-request.ts';
import { knowledgeSearchNode } from './types/knowledge-search.ts';
import { listMembershipNode } from './types/list-membership.ts';
import { llmNode } from './types/llm.ts';
import { runWorkflowNode } from './types/run-workflow.ts';
import { sendMessageNode } from './types/send-message.ts';
import { setContextNode } from './types/set-context.ts';
import { sheetRowNode } from './types/sheet-row.ts';
import { splitNode } from './types/split.ts';
import { switchNode } from './types/switch.ts';
import { trackerIssueNode } from './types/tracker-issue.ts';
import { triggerNode } from './types/trigger.ts';
import { updateContactNode } from './types/update-contact.ts';
import { voiceCallNode } from './types/voice-call.ts';
import { waitForEventNode } from './types/wait-for-event.ts';
import { waitNode } from './types/wait.ts';

export type NodeRegistry = ReadonlyMap<string, NodeType>;

/** Every node type by its name. A new node type is one file in `types/`, one line here, and a test. */
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

/** Describes every node type to graph editors: its data as JSON Schema, an example, and the handles of the example. */
export const describeNodeTypes = () =>
  [...nodeTypes.values()].map((type) => ({
    type: type.type,
    label: type.label,
    description: type.description,
    data_schema: z.toJSONSchema(type.dataSchema, { io: 'input', unrepresentable: 'any' }) as Record<string, unknown>,
    handles: type.handles(type.example),
    example: type.example,
  }));
