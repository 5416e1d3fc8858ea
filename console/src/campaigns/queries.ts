import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, answerOf, type Schemas } from '../api/client.ts';

export type Campaign = Schemas['Campaign'];
export type CampaignRow = Schemas['CampaignRow'];

const pageSize = 50;
/** What moves is asked for again this often. */
const movingMs = 3_000;
export const isMoving = (state: string): boolean => state === 'running' || state === 'syncing';

export interface CampaignFilter {
  state?: string | undefined;
  search?: string | undefined;
}

export const campaignsQuery = (filter: CampaignFilter) =>
  infiniteQueryOptions({
    queryKey: ['campaigns', filter],
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/api/v1/campaign', {
          params: {
            query: {
              limit: String(pageSize),
              ...(pageParam ? { cursor: pageParam } : {}),
              ...(filter.state ? { state: filter.state as Campaign['state'] } : {}),
              ...(filter.search ? { search: filter.search } : {}),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ campaigns }) => campaigns.some(({ state }) => isMoving(state))) ? movingMs : false,
  });

export const campaignQuery = (id: number) =>
  queryOptions({
    queryKey: ['campaign', id],
    queryFn: () => answerOf(api.GET('/api/v1/campaign/{campaign_id}', { params: { path: { campaign_id: id } } })),
    refetchInterval: ({ state: { data } }) => (data && isMoving(data.state) ? movingMs : false),
  });

export const progressQuery = (id: number, isLive: boolean) =>
  queryOptions({
    queryKey: ['campaign', id, 'progress'],
    queryFn: () => answerOf(api.GET('/api/v1/campaign/{campaign_id}/progress', { params: { path: { campaign_id: id } } })),
    refetchInterval: isLive ? movingMs : false,
  });

export const rowsQuery = (id: number, state: string | null, isLive: boolean) =>
  infiniteQueryOptions({
    queryKey: ['campaign', id, 'rows', state],
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/api/v1/campaign/{campaign_id}/runs', {
          params: {
            path: { campaign_id: id },
            query: {
              limit: pageSize,
              ...(pageParam ? { cursor: pageParam } : {}),
              ...(state ? { state: state as CampaignRow['state'] } : {}),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: isLive ? movingMs : false,
  });
