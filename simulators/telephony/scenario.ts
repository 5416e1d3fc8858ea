export interface Scenario {
  /** The result of dialling. */
  result: 'person' | 'machine' | 'busy' | 'no_answer' | 'failed';
  /** The first request to place the call fails, without a call. */
  isFirstPostRefused: boolean;
  /** The call is placed, and the answer to the request is lost. */
  isAnswerLost: boolean;
  hangsUpAfterGreeting: boolean;
  /** Status callbacks come twice and out of order. */
  isDisordered: boolean;
  /** No callback reports the end of the call. */
  isEndUntold: boolean;
  /** A person answers, whom machine detection takes for a machine. */
  isMistaken: boolean;
  /** The person declines the offer. */
  declines: boolean;
}

const results: Record<string, Scenario['result']> = { '0001': 'busy', '0002': 'no_answer', '0003': 'failed', '0004': 'machine' };

/** The course of a call, as the last five digits of the called number decide it; of a SIP address, those before the @. */
export function toScenario(phone: string): Scenario {
  const last = phone.replace(/@.*$/, '').slice(-4);
  return {
    result: results[last] ?? 'person',
    isFirstPostRefused: last === '0005',
    isAnswerLost: last === '0006',
    hangsUpAfterGreeting: last === '0007',
    isDisordered: last === '0008',
    isEndUntold: last === '0009',
    isMistaken: last === '0010',
    declines: /[13579]\d{4}$/.test(phone),
  };
}
