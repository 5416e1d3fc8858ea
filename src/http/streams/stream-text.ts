import type { Logger } from '../../library/platform/log.ts';

/**
 * Streams text that is created while it is sent, one piece at a time as the reader takes it. `what` names the text in the log when the
 * stream breaks off.
 */
export function streamText(log: Logger, what: string, pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        // The status has been sent, so the download can only break off.
        log.error(`${what} broke off`, error);
        controller.error(error);
      }
    },
    cancel: async () => void (await pieces.return(undefined)),
  });
}
