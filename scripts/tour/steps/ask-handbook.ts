import { LocalError } from '../../local/settings.ts';
import { findAgent, withDocuments } from '../agents.ts';
import { handbook, describeReceipt, listReceipts, type RunEvent } from '../handbook.ts';
import type { TourStep } from '../step.ts';

interface Chat {
  id: number;
  logs: { events: RunEvent[] };
}

interface Answer {
  messages: { role: 'user' | 'assistant'; text: string }[];
}

export const askHandbook: TourStep = {
  title: 'Ask a voice agent, in a text chat, what stands in the handbook alone',
  operation: 'POST /workflow/{workflow_id}/runs/{run_id}/messages',
  async run(tour) {
    const { service, baseUrl, say, notes } = tour;
    const { uuid } = notes.read('handbook');
    const agent = await findAgent(tour, 'help-desk', (file) => withDocuments(file, [uuid]));
    say(`The agent "${agent.name}" ${agent.isNew ? 'is new' : 'was there'}: id ${agent.id}; its document_uuids name the handbook`);
    const chat = await service.post<Chat>(`/workflow/${agent.id}/runs`, { mode: 'textchat', initial_context: { first_name: 'Ada' } });
    const path = `/workflow/${agent.id}/runs/${chat.id}`;
    for (const { type, payload } of chat.logs.events) if (type === 'agent_said') say(`  Agent: ${payload.text}`);
    const { messages } = await service.post<Answer>(`${path}/messages`, { text: handbook.question });
    for (const { role, text } of messages) say(`  ${role === 'user' ? 'Person' : 'Agent'}: ${text}`);
    const { logs } = await service.post<Chat>(`${path}/end`, {});
    const receipts = listReceipts(logs.events);
    say('It answered from:');
    for (const receipt of receipts) say(`  ${describeReceipt(receipt)}`);
    say(`${baseUrl}${path}`);
    const reasons = logs.events.flatMap(({ payload }) => payload.reason ?? []);
    if (!receipts.some(({ document_uuid }) => document_uuid === uuid))
      throw new LocalError(['the agent has not looked into the handbook', ...reasons].join(': '));
    if (!messages.some(({ role, text }) => role === 'assistant' && handbook.answer.test(text)))
      throw new LocalError('the agent did not tell what stands in the handbook');
  },
};
