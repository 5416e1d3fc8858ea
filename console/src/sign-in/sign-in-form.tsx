import { Alert, Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { api, ApiError } from '../api/client.ts';
import { meQuery } from '../shell/session.ts';
import { texts } from '../texts/english.ts';

/** Asks for e-mail address and password, and says what the service answers. */
export function SignInForm({ onDone }: { onDone?: () => void }) {
  const queries = useQueryClient();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: () => api.POST('/api/v1/auth/login', { body: { email, password } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: meQuery.queryKey });
      onDone?.();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  const fields = signIn.error instanceof ApiError ? signIn.error.fields : new Map<string, string>();
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={texts.signIn.email}
          type="email"
          autoComplete="username"
          required
          value={email}
          error={fields.get('email')}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <PasswordInput
          label={texts.signIn.password}
          autoComplete="current-password"
          required
          value={password}
          error={fields.get('password')}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        {signIn.error && fields.size === 0 && (
          <Alert role="alert" color="red">
            {signIn.error.message}
          </Alert>
        )}
        <Button type="submit" loading={signIn.isPending}>
          {texts.signIn.submit}
        </Button>
      </Stack>
    </form>
  );
}
