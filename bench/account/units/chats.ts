import type { Bench } from '../../bench.ts';
import type { Unit } from '../account.ts';

const agent = (receiver: string) => ({
  name: 'Bookings',
  workflow_definition: {
    nodes: [
      {
        id: 'start',
        type: 'startCall',
        data: {
          prompt: 'You book tables in a restaurant.',
          greeting: 'Hello, how may I help?',
          tools: [
            {
              name: 'book_table',
              description: 'Books a table in the restaurant',
              parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
              http: { url: `${receiver}/tables` },
            },
          ],
        },
      },
    ],
    edges: [],
  },
});

/** Chats in text, which are talks without a carrier. */
export async function chatUnits({ clients, headers, rig }: Bench): Promise<Unit[]> {
  const post = <Answer>(path: string, body: object) =>
    clients.recording.json<Answer>({ method: 'POST', path: `/api/v1/workflow/${path}`, headers, body: JSON.stringify(body) });
  const { id } = await post<{ id: number }>('create/definition', agent(rig.receiver));
  const begin = async () => `${id}/runs/${(await post<{ id: number }>(`${id}/runs`, { mode: 'textchat', live_tools: true })).id}`;
  const calledTables = async () => {
    const response = await fetch(`${rig.outside}/__sim/requests?provider=receiver&path=/tables`);
    return ((await response.json()) as { requests: unknown[] }).requests.length;
  };
  let open = await begin();
  return [
    { name: 'A text chat is begun', work: begin },
    {
      name: 'A turn of a text chat',
      work: async () => {
        open = await begin();
        await post(`${open}/messages`, { text: 'Hello there.' });
      },
    },
    {
      name: 'A text chat with a turn that calls a tool',
      work: async () => {
        const before = await calledTables();
        await post(`${await begin()}/messages`, { text: 'Please book a table in the restaurant.' });
        if ((await calledTables()) !== before + 1) throw new Error('The tool was not called once');
      },
    },
  ];
}
