import { parseJson } from '../../../src/library/json/json.ts';
import { LocalError } from '../../local/settings.ts';
import { readExample } from '../examples.ts';
import type { Order } from '../orders.ts';
import type { Tour, TourStep } from '../step.ts';

interface Accepted {
  event_id: number;
  contact_id: number | null;
}

interface EventExample {
  phone: string;
  data: { order_id: string; total: number; currency: string };
}

const events = [
  { file: 'events/large-order.json', outcome: 'thanked' },
  { file: 'events/small-order.json', outcome: 'noted' },
  { file: 'events/order-of-a-stranger.json', outcome: 'thanked' },
] as const;

/** The files go out byte for byte. The event's id travels as Idempotency-Key, so that each tour sends events of its own. */
export const sendEvents: TourStep = {
  title: 'Post orders as events, one of them from somebody unknown, and one of them twice',
  operation: 'POST /events',
  async run(tour) {
    const orders: Order[] = [];
    for (const { file, outcome } of events) {
      const text = readExample(file);
      const { phone, data } = parseJson(text) as unknown as EventExample;
      const isKnown = await hasContact(tour, phone);
      const { event_id, contact_id } = await post(tour, file, text);
      if (contact_id === null) throw new LocalError(`event ${event_id} has no contact although its phone is ${phone}`);
      tour.say(`${file}: event ${event_id} of contact ${contact_id}, who ${isKnown ? 'was known' : 'is new'}`);
      orders.push({
        orderId: data.order_id,
        from: `event ${event_id}`,
        amount: `${data.total.toFixed(2)} ${data.currency.toUpperCase()}`,
        outcome,
      });
    }
    tour.notes.write('orders', orders);
    const again = await post(tour, events[0].file, readExample(events[0].file));
    if (orders[0]?.from !== `event ${again.event_id}`)
      throw new LocalError(`the repeated event was stored once more, as event ${again.event_id}`);
    tour.say(`${events[0].file} again, with the same id: still event ${again.event_id}, nothing is triggered`);
    tour.say(`${tour.baseUrl}/events?event_type=tour_order_placed`);
  },
};

const post = ({ service, stamp }: Tour, file: string, text: string) =>
  service.post<Accepted>('/events', text, { 'idempotency-key': `tour-${stamp}-${file}` });

async function hasContact({ service }: Tour, phone: string): Promise<boolean> {
  const { total } = await service.get<{ total: number }>(`/contacts?limit=1&phone=${encodeURIComponent(phone)}`);
  return total > 0;
}
