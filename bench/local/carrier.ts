import type { CallRecord } from '../../simulators/telephony/call-record.ts';
import type { Callback } from '../../simulators/telephony/outbox.ts';
import type { GivenCallSettings } from '../../simulators/telephony/settings.ts';

/** An account at the simulated carrier; each side has its own, so that their calls can be distinguished. */
export interface CarrierAccount {
  accountSid: string;
  authToken: string;
}

export const ownNumber = '+15005550006';

const accountOf = (digit: string): CarrierAccount => ({ accountSid: `AC${digit.repeat(32)}`, authToken: digit.repeat(32) });
export const accounts = { service: accountOf('1'), recording: accountOf('2'), floor: accountOf('3') };

type DueCallback = Omit<Callback, 'headers'> & { id: string; headers: Record<string, string> };

/** The simulated carrier as the benchmark steers it. */
export class SimulatedCarrier {
  readonly #simulators: string;

  constructor(simulators: string) {
    this.#simulators = simulators;
  }

  /** The path that places calls. */
  callsPath = ({ accountSid }: CarrierAccount): string => `/twilio/2010-04-01/Accounts/${accountSid}/Calls.json`;

  /** Deletes all calls, and gives later calls these settings. No call may be live. */
  async behave(settings: GivenCallSettings): Promise<void> {
    await this.#send('POST', '/__sim/reset?provider=twilio');
    await this.#send('PATCH', '/twilio/__sim/settings', settings);
  }

  async callsOf({ accountSid }: CarrierAccount): Promise<CallRecord[]> {
    const { calls } = await this.#send<{ calls: CallRecord[] }>('GET', `/twilio/__sim/ledger?account=${accountSid}`);
    return calls;
  }

  /** The callbacks that the carrier would send next; for while it holds callbacks. */
  async due({ accountSid }: CarrierAccount): Promise<DueCallback[]> {
    const { due } = await this.#send<{ due: DueCallback[] }>('GET', `/twilio/__sim/due?wait_ms=1000&account=${accountSid}`);
    return due;
  }

  /** Has the person of a number say this, one by one. */
  async teach(phone: string, says: string[]): Promise<void> {
    await this.#send('POST', '/twilio/__sim/people', { phone, says });
  }

  async #send<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await fetch(this.#simulators + path, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} of the simulators answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Body;
  }
}
