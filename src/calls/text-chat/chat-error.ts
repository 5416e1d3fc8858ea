import { conflict, notFound, type ServiceError } from '../../library/errors.ts';
import type { ChatRefusal } from './contract.ts';

/** The error that a caller sees. */
export function toChatError(refusal: ChatRefusal, agentId: number): ServiceError {
  switch (refusal.refused) {
    case 'gone':
      return notFound('Run');
    case 'call':
      return conflict('This run is a call, which takes no written messages; start a chat with mode "textchat"');
    case 'completed':
      return conflict(`The chat has ended; start a new one with POST /workflow/${agentId}/runs`);
    case 'stale':
      return conflict(
        `The chat has gone on: its revision is ${refusal.revision}; read what was said, and send the message with that expected_revision, or without one`,
      );
  }
}
