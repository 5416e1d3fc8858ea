/** The fixed phrases of an agent; the model is not asked for them. */
export interface Phrases {
  /** Said after the first silence. */
  are_you_there: string;
  /** Said after the second silence. */
  idle_goodbye: string;
  time_is_up: string;
  /** Said when the model fails and the call ends. */
  apology: string;
  /** Said when the model answers with nothing. */
  please_repeat: string;
  /** Said when the provider's filter withholds the answer. */
  cannot_say: string;
  /** Said when the model fails or is silent at a goodbye. */
  goodbye: string;
  /** Said before a human is dialled. */
  transferring: string;
  /** Said when no human takes the call, and the call then ends. */
  transfer_failed: string;
  /** Said to the human in the place of a summary that the model did not write. */
  transfer_introduction: string;
}

export const defaultPhrases: Phrases = {
  are_you_there: 'Are you still there?',
  idle_goodbye: 'I cannot hear you, so I will hang up now. Goodbye.',
  time_is_up: 'I am sorry, our time is up. Thank you, and goodbye.',
  apology: 'I am sorry, I am having a technical problem and have to end this call. Goodbye.',
  please_repeat: 'I am sorry, could you say that again?',
  cannot_say: 'I am sorry, I cannot help with that.',
  goodbye: 'Goodbye.',
  transferring: 'One moment, please. I am connecting you.',
  transfer_failed: 'I am sorry, nobody can take your call right now. Goodbye.',
  transfer_introduction: 'A caller is waiting. I am connecting you.',
};
