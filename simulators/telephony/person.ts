export interface Reaction {
  /** Absent: they stay silent. */
  says?: string;
  hangsUp?: boolean;
}

/** Who is on the phone, one for each call. */
export interface SimulatedPerson {
  /** Said as soon as the line is up, before anything is heard. */
  opening?: string;
  hear(text: string): Reaction;
}

export interface PersonBehavior {
  declines: boolean;
  hangsUpAfterGreeting: boolean;
  /** Said one by one instead of what comes to their mind. */
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

/** Says, in order, what fits: yes or no to the offer, "Tuesday" when asked for a day, goodbye. Hangs up once both have said goodbye. */
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

/** An answering machine: speaks first, then records until it has enough. */
export function createMachine(): SimulatedPerson {
  let utteranceCount = 0;
  return {
    opening: 'You have reached the voicemail of this number. Please leave a message after the tone.',
    hear: () => ({ hangsUp: (utteranceCount += 1) >= 2 }),
  };
}
