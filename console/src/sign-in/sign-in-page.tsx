import { Center, Loader, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api } from '../api/client.ts';
import { Problem } from '../parts/problem.tsx';
import { meQuery } from '../shell/session.ts';
import { texts } from '../texts/english.ts';
import { SignInForm } from './sign-in-form.tsx';

/** The token of a sign-in link, once: it is taken out of the address, so that it stays in no history. */
export function takeLinkToken(): string | undefined {
  const token = /^#sign-in=(.+)$/.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return token;
}

export function SignInPage({ linkToken }: { linkToken: string | undefined }) {
  const queries = useQueryClient();
  const byLink = useMutation({
    mutationFn: (token: string) => api.POST('/api/v1/auth/sign-in-links/use', { body: { token } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: meQuery.queryKey }),
  });
  const { mutate } = byLink;
  useEffect(() => {
    if (linkToken !== undefined) mutate(linkToken);
  }, [linkToken, mutate]);
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <Title order={1} size="h2">
            {texts.signIn.title}
          </Title>
          {byLink.isPending ? (
            <Text role="status">
              <Loader size="xs" mr="xs" aria-hidden />
              {texts.signIn.byLink}
            </Text>
          ) : (
            <>
              {byLink.error && <Problem error={byLink.error} />}
              <SignInForm />
            </>
          )}
        </Stack>
      </Paper>
    </Center>
  );
}
