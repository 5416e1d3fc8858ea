import { isRecord } from '../../../library/json/json.ts';
import { percentEncoded } from '../../../library/text/clean-text.ts';

const recordingsPath = '/recordings';

/**
 * The location of the recording of a `call.recording.saved`: a path of the API or, without any id, its link, which expires after ten
 * minutes.
 */
export function recordingLocation(payload: Record<string, unknown>): string | undefined {
  const textAt = (name: string) => {
    const value = payload[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const id = textAt('recording_id');
  if (id !== undefined) return `${recordingsPath}/${percentEncoded(id)}`;
  for (const name of ['call_leg_id', 'call_session_id']) {
    const value = textAt(name);
    if (value !== undefined) return `${recordingsPath}?${new URLSearchParams({ [`filter[${name}]`]: value })}`;
  }
  return audioLink(payload['recording_urls']) ?? audioLink(payload['public_recording_urls']);
}

/** Whether a location is a path of the API and not a link to a file. */
export const isRecordingPath = (location: string): boolean => /^\/recordings[/?]/.test(location);

/** The link to the file in the API's answer for such a path, one recording or a list; undefined: there is no file yet. */
export function recordingLink(body: Record<string, unknown> | undefined): string | undefined {
  const found = [body?.['data']].flat().filter(isRecord);
  return found.map(({ download_urls: links }) => audioLink(links)).find((link) => link !== undefined);
}

function audioLink(links: unknown): string | undefined {
  if (!isRecord(links)) return undefined;
  return [links['mp3'], links['wav']].find((link): link is string => typeof link === 'string' && link !== '');
}
