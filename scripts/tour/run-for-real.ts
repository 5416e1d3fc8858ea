import { setTimeout as sleep } from 'node:timers/promises';
import { LocalError } from '../local/settings.ts';
import { askForTemplates, type Template } from './message-templates.ts';
import type { Tour } from './step.ts';
import type { ShownRequest, Visit } from './timeline.ts';

/** A node that reaches a person, with what the dry run would have sent filled in. */
interface RealNode {
  id: string;
  type: 'voice_call' | 'send_message';
  name: string;
  data: object;
}

interface RealRunRequest {
  name: string;
  contactId: number;
  nodes: RealNode[];
  templates: Template[];
}

interface Run {
  id: number;
  state: string;
  error: { message: string } | null;
}

interface RealVisit extends Omit<Visit, 'output'> {
  output: {
    call_run_id?: number;
    outcome?: string;
    disposition?: string | null;
    extracted_variables?: Record<string, unknown>;
    template_name?: string;
    status?: string;
    reason?: string | null;
  } | null;
}

const timeoutMs = 20_000;
const pollMs = 100;
const ended = new Set(['completed', 'failed', 'cancelled']);

/** The calls and messages of a dry run, in order, each as a node that does for real what was only shown. */
export const toRealNodes = (history: Visit[]): RealNode[] =>
  history.flatMap(({ node_type: type, node_id, node_name, status, output }, index) => {
    if (status !== 'simulated' || !output?.request || (type !== 'voice_call' && type !== 'send_message')) return [];
    return [{ id: `n${index}`, type, name: node_name ?? node_id, data: dataOf(type, output.request) }];
  });

const dataOf = (type: RealNode['type'], request: ShownRequest): object => {
  const { workflow_id, phone, initial_context, to, template_name, language, template_params } = request;
  return type === 'voice_call' ? { workflow_id, phone, initial_context } : { to, template_name, language, template_params };
};

/** Runs the calls and messages of a journey one after the other, without what it waits for between, and tells how each went. */
export async function runForReal(tour: Tour, { name, contactId, nodes, templates }: RealRunRequest): Promise<void> {
  const { service, baseUrl, say } = tour;
  say('Its calls and messages for real, without the waits, by the simulated carrier and messaging provider:');
  await askForTemplates(tour, templates);
  const journey = await service.post<{ id: number }>('/automation-workflows', {
    name: `${name}, its calls and messages`,
    definition: chain(nodes),
  });
  const started = await service.post<Run>(`/automation-workflows/${journey.id}/test`, { contact_id: contactId, dry_run: false });
  const run = await endOf(tour, started);
  const { history } = await service.get<{ history: RealVisit[] }>(`/automation-workflows/runs/${run.id}/history`);
  for (const node of nodes) {
    const visit = history.findLast(({ node_id }) => node_id === node.id);
    for (const line of visit ? await describeRealRun(tour, node, visit) : [`${node.name}: was not reached`]) say(`  ${line}`);
  }
  await service.call('DELETE', `${baseUrl}/automation-workflows/${journey.id}`, undefined, { 'x-api-key': tour.apiKey });
  say(`${baseUrl}/automation-workflows/runs/${run.id}/history`);
  if (run.state !== 'completed') throw new LocalError(`run ${run.id} is ${run.state}: ${run.error?.message ?? 'without a reason'}`);
}

/** The nodes one after the other, whatever comes of each. */
function chain(nodes: RealNode[]): object {
  const all = [{ id: 'start', type: 'trigger', name: 'Begin', data: {} }, ...nodes];
  return { nodes: all, edges: nodes.map(({ id }, index) => ({ id: `e${index}`, source: all[index]!.id, target: id })) };
}

async function endOf({ service }: Tour, started: Run): Promise<Run> {
  const deadline = Date.now() + timeoutMs;
  for (let run = started; ; run = await service.get<Run>(`/automation-workflows/runs/${started.id}`)) {
    if (ended.has(run.state)) return run;
    if (Date.now() > deadline) throw new LocalError(`run ${run.id} is still ${run.state}; is a call waiting for its turn?`);
    await sleep(pollMs);
  }
}

async function describeRealRun({ service }: Tour, node: RealNode, { output, error }: RealVisit): Promise<string[]> {
  if (error) return [`${node.name}: ${error.type}: ${error.message}`];
  if (node.type === 'send_message')
    return [`${node.name}: ${output?.template_name} is ${output?.status}${output?.reason ? `: ${output.reason}` : ''}`];
  const details = [
    output?.outcome,
    output?.disposition,
    ...Object.entries(output?.extracted_variables ?? {}).map(([key, value]) => `${key}: ${value}`),
  ];
  const { workflow_id: agent } = node.data as { workflow_id: number };
  const transcript = await service.get<string>(`/workflow/${agent}/runs/${output?.call_run_id}/transcript`);
  return [
    `${node.name}: ${details.filter(Boolean).join('; ')}`,
    ...transcript
      .trim()
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}
