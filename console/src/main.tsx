import '@mantine/core/styles.css';
import './shell/shell.css';
import { createTheme, MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client.ts';
import { router } from './router.tsx';
import { SessionGate } from './shell/session-gate.tsx';

const isFinal = (error: Error): boolean => error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;

const queries = new QueryClient({
  defaultOptions: { queries: { retry: (count, error) => count < 3 && !isFinal(error), refetchOnWindowFocus: true } },
});
const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 7 },
  fontFamily: 'system-ui, sans-serif',
  respectReducedMotion: true,
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queries}>
        <SessionGate>
          <RouterProvider router={router} />
        </SessionGate>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
