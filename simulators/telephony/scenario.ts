export interface Scenario {
  /** What comes of dialling. */
  result: 'person' | 'machine' | 'busy' | 'no_answer' | 'failed';
  /** The first request to place the call fails, without a call. */
  isFirstPostRefused: boolean;
  /** The call is placed, and the answer to the request is lost. */
  isAnswerLost: boolean;
  hangsUpAfterGreeting: boolean;
  /** Status callbacks come twice and out of order. */
  isDisordered: boolean;
  /** Nothing tells that the call has ended. */
  isEndUntold: boolean;
  /** The person says no to what is offered. */
  declines: boolean;
}

const results: Record<string, Scenario['result']> = { '0001': 'busy', '0002': 'no_answer', '0003': 'failed', '0004': 'machine' };

/** What the last four digits of a called number decide, and the one before them. */
export function toScenario(phone: string): Scenario {
  const last = phone.slice(-4);
  return {
    result: results[last] ?? 'person',
    isFirstPostRefused: last === '0005',
    isAnswerLost: last === '0006',
    hangsUpAfterGreeting: last === '0007',
    isDisordered: last === '0008',
    isEndUntold: last === '0009',
    declines: /[13579]\d{4}$/.test(phone),
  };
}
