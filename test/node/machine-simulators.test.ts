import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import { publicKey } from '../../simulators/telnyx/keys.ts';
import { createTelnyx } from '../../simulators/telnyx.ts';
import { createTwilio } from '../../simulators/twilio.ts';
import type { MachineEvent } from '../../src/providers/telephony/carrier-events.ts';
import { telnyxTelephony } from '../../src/providers/telephony/telnyx/adapter.ts';
import type { Telephony } from '../../src/providers/telephony/telephony.ts';
import { twilioTelephony } from '../../src/providers/telephony/twilio/adapter.ts';
import { hangUpTwiml } from '../../src/providers/telephony/twilio/twiml.ts';
import { Customer } from './carrier-customer.ts';

const accountSid = 'AC00000000000000000000000000000001';
const settings = { ring_ms: 20, turn_ms: 5, retry_delays_ms: [5] };

/** The reports of machine detection on a call to a number that ends so, until one that fits. */
async function verdicts(carrier: 'twilio' | 'telnyx', ending: string, awaitsBeep: boolean, isLast: (event: MachineEvent) => boolean) {
  const vendor = carrier === 'twilio' ? createTwilio(settings) : createTelnyx(settings);
  const { url, close } = await listen({ port: 0, vendors: [vendor] });
  onTestFinished(close);
  const customer = await Customer.start();
  customer.respond = ({ path }) => (path === '/answer' ? { body: hangUpTwiml().replace('<Hangup/>', '<Pause length="1"/>') } : undefined);
  const telephony: Telephony =
    carrier === 'twilio'
      ? twilioTelephony({ accountSid, authToken: 'check-token' }, { baseUrl: `${url}/twilio` })
      : telnyxTelephony({ apiKey: 'KEY1', connectionId: '149', publicKey }, { baseUrl: `${url}/telnyx/v2` });
  const urls = { status: `${customer.url}/status`, answer: `${customer.url}/answer`, machine: `${customer.url}/machine` };
  const placed = await telephony.place({ attemptKey: 'single:0:a', to: `+1212456${ending}`, from: '+15005550006', urls, awaitsBeep });
  expect(placed).toHaveProperty('placed');
  const events = () =>
    customer.received.flatMap(({ body }) => {
      const event = telephony.readCallback(body, 1);
      return event?.kind === 'machine' ? [event] : [];
    });
  await customer.until(() => events().some(isLast), 'the verdict');
  return events();
}

test.each(['twilio', 'telnyx'] as const)('%s reports the end of a machine’s greeting where it is asked for', async (carrier) => {
  const events = await verdicts(carrier, '0004', true, ({ isGreetingOver }) => isGreetingOver === true);
  expect(events.at(-1)).toMatchObject({ answeredBy: 'machine', isGreetingOver: true });
});

test.each(['twilio', 'telnyx'] as const)(
  '%s reports no end of a greeting where it is not asked for, or a person answers',
  async (carrier) => {
    const [machine] = await verdicts(carrier, '0004', false, () => true);
    expect(machine).toMatchObject({ answeredBy: 'machine' });
    expect(machine).not.toHaveProperty('isGreetingOver');
    expect(await verdicts(carrier, '7777', true, () => true)).toMatchObject([{ answeredBy: 'person' }]);
  },
);

test.each(['twilio', 'telnyx'] as const)('%s takes the person of a number that ends in 0010 for a machine', async (carrier) => {
  expect(await verdicts(carrier, '0010', false, () => true)).toMatchObject([{ answeredBy: 'machine' }]);
});
