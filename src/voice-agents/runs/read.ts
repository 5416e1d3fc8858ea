import type { Context } from '../../accounts/context.ts';
import { showPayload, showPayloads } from '../../database/payload.ts';
import { callSlots } from '../dialing/slots.ts';
import type { RunRecord } from '../schemas.ts';
import { artifactKey, noLogs, type RunLogs } from './artifacts.ts';
import { callObject } from './call-object.ts';
import { existingRun } from './existing-run.ts';
import { runRecord } from './records.ts';
import type { RunRow } from './run-store.ts';

type JsonObject = Record<string, unknown>;

/** One run: while it lives as the line and the talk know it, then as its row and its logs in R2 do. Throws 404. */
export async function readRun(context: Context, apiUrl: string, agentId: number, runId: number): Promise<RunRecord> {
  const row = await existingRun(context, agentId, runId);
  if (row.is_completed) return completedRun(context, apiUrl, row);
  const { bindings, organization } = context;
  const [line, live, initialContext] = await Promise.all([
    row.mode === 'textchat' ? null : callSlots(bindings, organization.id, (slots) => slots.look(row.attempt_key)),
    callObject(bindings, organization.id, row.id, (object) => object.snapshot()),
    initialContextOf(context, row),
  ]);
  // Nobody knows of it any more: it was completed between the two reads, unless it has not begun.
  const latest = line || live ? row : await existingRun(context, agentId, runId);
  if (latest.is_completed) return completedRun(context, apiUrl, latest);
  const callStatus = line?.callStatus ?? (row.mode === 'textchat' ? 'in_progress' : 'queued');
  return runRecord(apiUrl, row, {
    initialContext,
    callStatus,
    waitingFor: line?.callStatus === 'queued' ? line.reason : null,
    live: live ?? undefined,
    logs: live?.logs,
  });
}

async function completedRun(context: Context, apiUrl: string, row: RunRow): Promise<RunRecord> {
  const [initialContext, logs] = await Promise.all([initialContextOf(context, row), logsOf(context, row)]);
  return runRecord(apiUrl, row, { initialContext, logs });
}

/** Of a call that nobody talked on they are few, and stand in the row. */
async function logsOf({ bindings, organization }: Context, row: RunRow): Promise<RunLogs> {
  const own = row.result?.logs;
  if (own) return own;
  const stored = await bindings.FILES.get(artifactKey(organization.id, row.id, 'logs.json'));
  return stored ? await stored.json<RunLogs>() : noLogs;
}

const initialContextOf = ({ bindings }: Context, row: RunRow) => showPayload(bindings.FILES, row.initial_context) as Promise<JsonObject>;

/** Runs as lists show them: without logs, and of a live one only what its row says. */
export async function runRecords({ bindings }: Context, apiUrl: string, rows: RunRow[]): Promise<RunRecord[]> {
  const contexts = await showPayloads(
    bindings.FILES,
    rows.map((row) => row.initial_context),
  );
  return rows.map((row, index) => runRecord(apiUrl, row, { initialContext: contexts[index] as JsonObject }));
}
