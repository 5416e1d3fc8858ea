/** What the agent says without asking the model. */
export interface Phrases {
  /** Somebody has been silent for long. */
  are_you_there: string;
  /** Still silent. */
  idle_goodbye: string;
  time_is_up: string;
  /** The model fails, and the call ends. */
  apology: string;
  /** The model has no answer. */
  please_repeat: string;
  /** The provider's filter holds the answer back. */
  cannot_say: string;
  /** The model has no goodbye. */
  goodbye: string;
}

export const defaultPhrases: Phrases = {
  are_you_there: 'Are you still there?',
  idle_goodbye: 'I cannot hear you, so I will hang up now. Goodbye.',
  time_is_up: 'I am sorry, our time is up. Thank you, and goodbye.',
  apology: 'I am sorry, I am having a technical problem and have to end this call. Goodbye.',
  please_repeat: 'I am sorry, could you say that again?',
  cannot_say: 'I am sorry, I cannot help with that.',
  goodbye: 'Goodbye.',
};
