import type { Context } from '../../context.ts';
import { showPayload, showPayloads } from '../../database/payload.ts';
import { withCallObject, withCallSlots } from '../rpc.ts';
import type { AgentRunRecord } from './schemas.ts';
import { artifactKey, noLogs, type RunLogs, type TalkFile } from './artifacts.ts';
import { type AgentRunRow, existingRun } from './store.ts';
import { toAgentRunRecord } from './run-record.ts';

type JsonObject = Record<string, unknown>;

/** One run. A live run is read from the call slots and its object, a completed run from its row and its logs in R2. Throws 404. */
export async function readAgentRun(context: Context, apiUrl: string, agentId: number, runId: number): Promise<AgentRunRecord> {
  const row = await existingRun(context, agentId, runId);
  if (row.is_completed) return readCompletedRun(context, apiUrl, row);
  const { bindings, organization } = context;
  const [line, live, initialContext] = await Promise.all([
    row.mode === 'textchat' ? null : withCallSlots(bindings, organization.id, (slots) => slots.getCallStatus(row.attempt_key)),
    withCallObject(bindings, organization.id, row.id, (object) => object.snapshot()),
    readInitialContext(context, row),
  ]);
  // Neither knows the run: it was completed between the two reads, or it has not begun.
  const latest = line || live ? row : await existingRun(context, agentId, runId);
  if (latest.is_completed) return readCompletedRun(context, apiUrl, latest);
  const callStatus = line?.callStatus ?? (row.mode === 'textchat' ? 'in_progress' : 'queued');
  return toAgentRunRecord(apiUrl, row, {
    initialContext,
    callStatus,
    waitingFor: line?.callStatus === 'queued' ? line.reason : null,
    live: live ?? undefined,
    logs: live?.logs,
  });
}

async function readCompletedRun(context: Context, apiUrl: string, row: AgentRunRow): Promise<AgentRunRecord> {
  const [initialContext, logs] = await Promise.all([readInitialContext(context, row), readLogs(context, row)]);
  return toAgentRunRecord(apiUrl, row, { initialContext, logs });
}

/** The logs of a run. The row of an unanswered call holds its few logs. */
async function readLogs({ bindings, organization }: Context, row: AgentRunRow): Promise<RunLogs> {
  const own = row.result?.logs;
  if (own) return own;
  const talk = await bindings.FILES.get(artifactKey(organization.id, row.id, 'talk.json'));
  if (talk) return (await talk.json<TalkFile>()).logs;
  const earlier = await bindings.FILES.get(artifactKey(organization.id, row.id, 'logs.json'));
  return earlier ? await earlier.json<RunLogs>() : noLogs;
}

const readInitialContext = ({ bindings }: Context, row: AgentRunRow) =>
  showPayload(bindings.FILES, row.initial_context) as Promise<JsonObject>;

/** Runs as lists show them: without logs, and live runs only as far as their rows go. */
export async function toAgentRunRecords({ bindings }: Context, apiUrl: string, rows: AgentRunRow[]): Promise<AgentRunRecord[]> {
  const contexts = await showPayloads(
    bindings.FILES,
    rows.map((row) => row.initial_context),
  );
  return rows.map((row, index) => toAgentRunRecord(apiUrl, row, { initialContext: contexts[index] as JsonObject }));
}
