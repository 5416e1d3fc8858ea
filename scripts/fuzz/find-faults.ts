import type { Operation } from './operations.ts';
import type { WireAnswer, WireResult } from './send-request.ts';

export const slowMs = 2000;

export interface JudgedRequest {
  /** Null: of a path or method that is none of the document's. */
  operation: Operation | null;
  method: string;
  /** That it is sound HTTP: one that is not may be dropped without an answer. */
  isWellFormed: boolean;
  /** What no answer may hold. */
  secrets: readonly string[];
}

/** The faults of an answer, in words; empty: none. The caller judges slowness and crashes, since it can repeat the request. */
export function findFaults(question: JudgedRequest, result: WireResult): string[] {
  if ('silence' in result) return question.isWellFormed ? [`no answer: ${result.silence}`] : [];
  const faults: string[] = [];
  if (isFromRuntime(question, result)) return faults;
  if (result.status >= 500 && !isFromProvider(question, result)) faults.push(`status ${result.status}`);
  const form = formFault(question, result);
  if (form !== null) faults.push(form);
  const text = `${result.body}\n${Object.values(result.headers).join('\n')}`;
  for (const secret of question.secrets) if (text.includes(secret)) faults.push(`the answer holds a secret, ${secret.slice(0, 4)}...`);
  return faults;
}

/** Whether the runtime answered, or a server before it: each answer of the service has an X-Request-Id. Invalid HTTP may be answered in any way. */
export const isFromRuntime = ({ isWellFormed }: JudgedRequest, { status, headers }: WireAnswer): boolean =>
  headers['x-request-id'] === undefined && (!isWellFormed || [400, 413, 414, 431, 501, 505].includes(status));

/** 502 is the fault of who stands behind the operation, and a 503 tells when to come again. */
const isFromProvider = ({ operation }: JudgedRequest, { status, headers }: WireAnswer): boolean =>
  (status === 502 && operation !== null) || (status === 503 && headers['retry-after'] !== undefined);

function formFault({ operation, method }: JudgedRequest, { status, headers, body }: WireAnswer): string | null {
  const type = (headers['content-type'] ?? '').split(';')[0]!.trim();
  if (method === 'HEAD' || [204, 304].includes(status)) return null;
  if (headers['x-request-id'] === undefined) return `no X-Request-Id in an answer of status ${status}`;
  if (status < 300 && operation !== null && type !== 'application/json' && operation.answers.includes(type)) return null;
  // Preflights, and answers to valid range requests for an artifact.
  if (status >= 300 && status < 400) return null;
  if (status === 416 && body === '') return null;
  if (type !== 'application/json') return `content type "${type}" with status ${status}`;
  try {
    const answer: unknown = JSON.parse(body);
    return status < 400 || hasDetail(answer) ? null : `an error without detail, of status ${status}`;
  } catch {
    return `what says to be JSON and is none, of status ${status}`;
  }
}

const hasDetail = (answer: unknown): boolean => {
  const { detail, error } = (answer ?? {}) as { detail?: unknown; error?: { message?: unknown } };
  // The form of /mcp is that of its protocol.
  if (typeof error?.message === 'string') return true;
  return typeof detail === 'string' ? detail !== '' : Array.isArray(detail) && detail.length > 0;
};
