/** A queue takes this many messages in one call. */
const messagesPerCall = 100;

/** Sends any number of messages to a queue, in as few calls as possible. */
export async function sendAll<Message>(queue: Queue<Message>, messages: Message[]): Promise<void> {
  for (let start = 0; start < messages.length; start += messagesPerCall)
    await queue.sendBatch(messages.slice(start, start + messagesPerCall).map((body) => ({ body })));
}
