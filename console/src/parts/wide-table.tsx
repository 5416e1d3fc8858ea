import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

/** A table that is as wide as it has to be: where the screen is narrower, it is moved sideways, by the keyboard, too. */
export const WideTable = ({ label, minWidth, children }: { label: string; minWidth: number; children: ReactNode }) => (
  <div role="region" aria-label={label} tabIndex={0} style={{ overflowX: 'auto' }}>
    <Table miw={minWidth} verticalSpacing="sm">
      {children}
    </Table>
  </div>
);
