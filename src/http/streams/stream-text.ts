import type { Logger } from '../../library/platform/log.ts';

/**
 * Streams text that is created while it is sent, one piece at a time as the reader takes it. `what` names the text in the log when the
 * stream breaks off.
 */
export const streamText = (log: Logger, what: string, pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> =>
  streamPieces(log, what, pieces);

/** As `streamText`, also for bytes. */
export function streamPieces(log: Logger, what: string, pieces: AsyncGenerator<string | Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
      } catch (error) {
        // The status has been sent, so the download can only break off.
        log.error(`${what} broke off`, error);
        controller.error(error);
      }
    },
    cancel: async () => void (await pieces.return(undefined)),
  });
}
