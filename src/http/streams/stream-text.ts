import type { Logger } from '../../library/platform/log.ts';

/** Text that is made while it is sent, a piece at a time as the reader takes it. `what` names it in the log when it breaks off. */
export function streamText(log: Logger, what: string, pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (error) {
        // The status has gone out: a download that breaks off is all that can still be said.
        log.error(`${what} broke off`, error);
        controller.error(error);
      }
    },
    cancel: async () => void (await pieces.return(undefined)),
  });
}
