import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, answerOf, ApiError, type Schemas } from '../api/client.ts';

export type Me = Schemas['Me'];
type Organization = NonNullable<Me['organization']>;

/** Who is signed in; null: nobody. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async (): Promise<Me | null> => {
    try {
      return await answerOf(api.GET('/api/v1/auth/me'));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 60_000,
  retry: (count, error) => count < 3 && !(error instanceof ApiError && error.status > 0 && error.status < 500),
});

/** The person and the organization of a page inside the shell, which is shown only when both are there. */
export function useSession(): Me & { organization: Organization } {
  const { data } = useQuery(meQuery);
  if (!data?.organization) throw new Error('no session');
  return data as Me & { organization: Organization };
}

/** Whether the person may do what needs one of the scopes. */
export const useMay = (...scopes: string[]): boolean => {
  const own: readonly string[] = useSession().scopes;
  return scopes.some((scope) => own.includes(scope));
};
