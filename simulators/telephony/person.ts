export interface Reaction {
  /** Absent: the person stays silent. */
  says?: string;
  hangsUp?: boolean;
}

/** The person on the phone, one for each call. */
export interface SimulatedPerson {
  /** Said as soon as the line is up, before the agent speaks. */
  opening?: string;
  hear(text: string): Reaction;
}

export interface PersonBehavior {
  declines: boolean;
  hangsUpAfterGreeting: boolean;
  /** Lines that the person says one by one, instead of answers of its own. */
  script: readonly string[];
}

const goodbye = /\b(?:good ?bye|bye|have a (?:nice|good|great|lovely) (?:day|evening|one)|take care)\b/i;
const dayQuestion = /\b(?:day|date|when|what time|which time)\b/i;
const questions: [RegExp, string][] = [
  [/\bname\b/i, 'My name is Alex Smith.'],
  [/\be-?mail\b/i, 'alex@example.com'],
  [/\bhow many\b/i, 'Two.'],
  [/\b(?:hear|there)\b/i, 'Yes, I can hear you.'],
];
const maxUtterances = 20;

/** A person who answers the offer with yes or no, says "Tuesday" when asked for a day, and says goodbye. Hangs up when both have said goodbye. */
export function createPerson({ declines, hangsUpAfterGreeting, script }: PersonBehavior): SimulatedPerson {
  const planned = [...script];
  let utteranceCount = 0;
  let hasDecided = false;
  let hasNamedDay = false;
  let hasSaidGoodbye = false;

  const sayGoodbye = (): Reaction => {
    hasSaidGoodbye = true;
    return { says: 'Goodbye.' };
  };

  return {
    hear(text) {
      utteranceCount += 1;
      if (hangsUpAfterGreeting || hasSaidGoodbye || utteranceCount > maxUtterances) return { hangsUp: true };
      const next = planned.shift();
      if (next !== undefined) return { says: next };
      if (goodbye.test(text)) return sayGoodbye();
      if (dayQuestion.test(text) && text.includes('?') && !declines && !hasNamedDay) {
        hasDecided = hasNamedDay = true;
        return { says: 'Tuesday, please.' };
      }
      if (!hasDecided) {
        hasDecided = true;
        return { says: declines ? 'No, thank you, I am not interested.' : 'Yes, I am interested.' };
      }
      const fitting = text.includes('?') ? questions.find(([pattern]) => pattern.test(text)) : undefined;
      return fitting ? { says: fitting[1] } : sayGoodbye();
    },
  };
}

/** An answering machine: speaks first, then records so many utterances and hangs up. */
export function createMachine(recordedUtterances: number): SimulatedPerson {
  let utteranceCount = 0;
  return {
    opening: 'You have reached the voicemail of this number. Please leave a message after the tone.',
    hear: () => ({ hangsUp: (utteranceCount += 1) >= recordedUtterances }),
  };
}
