import type { Context } from '../../context.ts';
import { notFound } from '../../library/errors.ts';
import { formatTranscript } from '../../voice-agents/conversation/transcript.ts';
import { artifactKey, type ArtifactName, type TalkFile } from './artifacts.ts';
import type { AgentRunRow } from './store.ts';

export type Artifact = 'recording' | 'transcript';
export const isArtifact = (text: string): text is Artifact => text === 'recording' || text === 'transcript';

const plainText = 'text/plain; charset=utf-8';

/** Throws 404 where the run has no such artifact (yet). */
export function requireArtifact(row: AgentRunRow, artifact: Artifact): void {
  const isThere = artifact === 'transcript' ? row.has_transcript : row.recording_type !== null;
  if (isThere) return;
  throw artifactNotFound(artifact, row.id, row.is_completed ? 'the run has none' : 'the run is not completed yet');
}

const artifactNotFound = (artifact: Artifact, runId: number, reason: string) =>
  notFound(`${artifact === 'transcript' ? 'Transcript' : 'Recording'} of run ${runId} (${reason})`);

interface ArtifactRequest {
  organizationId: number;
  runId: number;
  artifact: Artifact;
  format?: 'text' | 'json' | undefined;
}

/** Answers a GET of an artifact, or of one range of its bytes, or a HEAD. Throws 404. */
export async function sendArtifact(bindings: Context['bindings'], artifactRequest: ArtifactRequest, request: Request): Promise<Response> {
  const transcript = artifactRequest.artifact === 'transcript' ? await sendTranscript(bindings, artifactRequest, request) : null;
  return transcript ?? sendFile(bindings, artifactRequest, request);
}

/** The transcript from the file of the talk; null: the run is of an earlier version, which wrote files of its own. */
async function sendTranscript(
  { FILES }: Context['bindings'],
  artifactRequest: ArtifactRequest,
  request: Request,
): Promise<Response | null> {
  const { organizationId, runId, format } = artifactRequest;
  const object = await FILES.get(artifactKey(organizationId, runId, 'talk.json'));
  if (!object) return null;
  const { utterances } = await object.json<TalkFile>();
  const bytes = new TextEncoder().encode(format === 'json' ? JSON.stringify({ utterances }) : formatTranscript(utterances));
  const size = bytes.length;
  const headers = (length: number) => artifactHeaders(artifactRequest, object, length);
  if (request.method === 'HEAD') return new Response(null, { headers: headers(size) });
  const rangeHeader = request.headers.get('range');
  const range = rangeHeader === null ? null : byteRange(rangeHeader, size);
  if (range === 'unsatisfiable') return unsatisfiable(size);
  if (range === null) return new Response(bytes, { headers: headers(size) });
  const partHeaders = headers(range.length);
  partHeaders.set('Content-Range', `bytes ${range.offset}-${range.offset + range.length - 1}/${size}`);
  return new Response(bytes.subarray(range.offset, range.offset + range.length), { status: 206, headers: partHeaders });
}

const unsatisfiable = (size: number) => new Response(null, { status: 416, headers: { 'Content-Range': `bytes */${size}` } });

async function sendFile(bindings: Context['bindings'], artifactRequest: ArtifactRequest, request: Request): Promise<Response> {
  const key = artifactKey(artifactRequest.organizationId, artifactRequest.runId, toArtifactName(artifactRequest));
  const gone = () => artifactNotFound(artifactRequest.artifact, artifactRequest.runId, 'it is not in storage');
  const rangeHeader = request.headers.get('range');
  if (request.method === 'GET' && rangeHeader === null) {
    const object = await bindings.FILES.get(key);
    if (!object) throw gone();
    return new Response(object.body, { headers: artifactHeaders(artifactRequest, object, object.size) });
  }
  const head = await bindings.FILES.head(key);
  if (!head) throw gone();
  if (request.method === 'HEAD') return new Response(null, { headers: artifactHeaders(artifactRequest, head, head.size) });
  const range = byteRange(rangeHeader!, head.size);
  if (range === 'unsatisfiable') return unsatisfiable(head.size);
  const object = await bindings.FILES.get(key, range ? { range } : {});
  if (!object) throw gone();
  const headers = artifactHeaders(artifactRequest, object, range?.length ?? object.size);
  if (!range) return new Response(object.body, { headers });
  headers.set('Content-Range', `bytes ${range.offset}-${range.offset + range.length - 1}/${object.size}`);
  return new Response(object.body, { status: 206, headers });
}

const toArtifactName = ({ artifact, format }: ArtifactRequest): ArtifactName =>
  artifact === 'recording' ? 'recording' : format === 'json' ? 'transcript.json' : 'transcript.txt';

function artifactHeaders({ artifact, format }: ArtifactRequest, object: R2Object, length: number): Headers {
  return new Headers({
    'Content-Type': artifact === 'recording' ? recordingContentType(object) : format === 'json' ? 'application/json' : plainText,
    'Content-Length': String(length),
    'Accept-Ranges': 'bytes',
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
    ETag: object.httpEtag,
  });
}

/** The content type that the carrier gave, if it is an audio type; no browser may execute anything else. */
function recordingContentType({ httpMetadata }: R2Object): string {
  const type = httpMetadata?.contentType ?? '';
  return /^audio\/[\w.+-]+$/i.test(type) ? type : 'application/octet-stream';
}

/**
 * The range that a Range header requests of `size` bytes (RFC 9110 section 14). Null: the header is not supported, such as several ranges,
 * so the whole artifact is sent.
 */
export function byteRange(header: string, size: number): { offset: number; length: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim());
  if (!match || (match[1] === '' && match[2] === '')) return null;
  const [first, last] = [match[1]!, match[2]!];
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { offset: size - length, length };
  }
  const offset = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < offset) return null;
  return offset >= size ? 'unsatisfiable' : { offset, length: end - offset + 1 };
}
