import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, answerOf, type Schemas } from '../api/client.ts';

export type Call = Schemas['Call'];

const pageSize = 50;
const liveMs = 3_000;

export const callsQuery = (status: 'live' | null, limit = pageSize) =>
  infiniteQueryOptions({
    queryKey: ['calls', status, limit],
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/api/v1/calls', {
          params: { query: { limit, ...(pageParam ? { cursor: pageParam } : {}), ...(status ? { status } : {}) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state: { data } }) =>
      status === 'live' || data?.pages[0]?.calls.some((call) => call.status === 'live') ? liveMs : false,
  });
