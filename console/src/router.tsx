import { Anchor, Stack, Text } from '@mantine/core';
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link } from '@tanstack/react-router';
import { Shell } from './shell/shell.tsx';
import { texts } from './texts/english.ts';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Stack>
      <Text>{texts.problem.notFound}</Text>
      <Anchor component={Link} to="/">
        {texts.problem.backHome}
      </Anchor>
    </Stack>
  ),
  errorComponent: () => <Text role="alert">{texts.problem.broken}</Text>,
});

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./home/home-page.tsx'), 'HomePage'),
});
const campaigns = createRoute({
  getParentRoute: () => root,
  path: '/campaigns',
  validateSearch: (search: Record<string, unknown>): { state?: string; search?: string } => ({
    ...(typeof search['state'] === 'string' ? { state: search['state'] } : {}),
    ...(typeof search['search'] === 'string' ? { search: search['search'] } : {}),
  }),
  component: lazyRouteComponent(() => import('./campaigns/campaign-list.tsx'), 'CampaignList'),
});
const campaign = createRoute({
  getParentRoute: () => root,
  path: '/campaigns/$campaignId',
  component: lazyRouteComponent(() => import('./campaigns/campaign-page.tsx'), 'CampaignPage'),
});
const calls = createRoute({
  getParentRoute: () => root,
  path: '/calls',
  component: lazyRouteComponent(() => import('./calls/call-list.tsx'), 'CallList'),
});

export const router = createRouter({
  routeTree: root.addChildren([home, campaigns, campaign, calls]),
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
