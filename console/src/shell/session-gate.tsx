import { Button, Center, Loader, Modal, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { api, whenSessionEnds } from '../api/client.ts';
import { Problem } from '../parts/problem.tsx';
import { SignInForm } from '../sign-in/sign-in-form.tsx';
import { SignInPage, takeLinkToken } from '../sign-in/sign-in-page.tsx';
import { texts } from '../texts/english.ts';
import { meQuery } from './session.ts';

const linkToken = takeLinkToken();

/** Shows the pages to who is signed in. When a session ends in the middle of something, the page stays as it is, and a dialog asks to sign in. */
export function SessionGate({ children }: { children: ReactNode }) {
  const me = useQuery(meQuery);
  const queries = useQueryClient();
  const [hasEnded, setEnded] = useState(false);
  useEffect(() => whenSessionEnds(() => setEnded(true)), []);
  if (me.isPending)
    return (
      <Center mih="100vh" component="main">
        <Loader aria-label={texts.loading} />
      </Center>
    );
  if (me.error)
    return (
      <Center mih="100vh" component="main" p="md">
        <Problem error={me.error} retry={() => void me.refetch()} />
      </Center>
    );
  if (me.data === null) return <SignInPage linkToken={linkToken} />;
  if (!me.data.organization) return <WithoutOrganization />;
  const goOn = () => {
    setEnded(false);
    void queries.invalidateQueries();
  };
  return (
    <>
      {children}
      <Modal opened={hasEnded} onClose={() => undefined} withCloseButton={false} title={texts.signIn.again} closeOnEscape={false}>
        <Stack>
          <Text>{texts.signIn.sessionEnded}</Text>
          <SignInForm onDone={goOn} />
        </Stack>
      </Modal>
    </>
  );
}

function WithoutOrganization() {
  const queries = useQueryClient();
  const signOut = async () => {
    await api.POST('/api/v1/auth/logout');
    queries.setQueryData(meQuery.queryKey, null);
  };
  return (
    <Center mih="100vh" component="main" p="md">
      <Stack>
        <Text>{texts.signIn.noOrganization}</Text>
        <Button variant="default" onClick={() => void signOut()}>
          {texts.navigation.signOut}
        </Button>
      </Stack>
    </Center>
  );
}
