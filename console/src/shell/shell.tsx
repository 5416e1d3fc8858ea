import { ActionIcon, Anchor, AppShell, Burger, Group, Menu, NavLink, Text, Title, useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { api } from '../api/client.ts';
import { texts } from '../texts/english.ts';
import { meQuery, useSession } from './session.ts';

const pages = [
  { to: '/', label: texts.navigation.home },
  { to: '/campaigns', label: texts.navigation.campaigns },
  { to: '/calls', label: texts.navigation.calls },
] as const;

/** The frame of all pages: where one is, where one can go, and who one is. */
export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { organization } = useSession();
  return (
    <AppShell header={{ height: 56 }} navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isOpen } }} padding="md">
      <Anchor href="#content" className="skip">
        {texts.skipToContent}
      </Anchor>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group wrap="nowrap" gap="sm">
            <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={texts.navigation.open} aria-expanded={isOpen} />
            <Text fw={600} truncate>
              {organization.name}
            </Text>
          </Group>
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={texts.navigation.label}>
        {pages.map(({ to, label }) => (
          <NavLink
            key={to}
            component={Link}
            to={to}
            label={label}
            onClick={close}
            active={to === '/' ? path === '/' : path.startsWith(to)}
            aria-current={path === to ? 'page' : undefined}
          />
        ))}
        <NavLink href="/docs/" label={texts.navigation.documentation} />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

function AccountMenu() {
  const { user, role } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const queries = useQueryClient();
  const name = user.name ?? user.email;
  const signOut = async () => {
    await api.POST('/api/v1/auth/logout');
    queries.clear();
    queries.setQueryData(meQuery.queryKey, null);
  };
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon variant="default" radius="xl" size="lg" aria-label={texts.navigation.account(name)}>
          {name.slice(0, 1).toUpperCase()}
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {name} · {role === null ? texts.none : (texts.roles[role] ?? role)}
        </Menu.Label>
        <Menu.Item onClick={() => setColorScheme(colorScheme === 'dark' ? 'light' : 'dark')}>{texts.navigation.lightOrDark}</Menu.Item>
        <Menu.Item onClick={() => void signOut()}>{texts.navigation.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

export const PageTitle = ({ children }: { children: string }) => (
  <Title order={1} size="h2" mb="md">
    {children}
  </Title>
);
