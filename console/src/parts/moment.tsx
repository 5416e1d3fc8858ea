import { Text, Tooltip } from '@mantine/core';
import { useSession } from '../shell/session.ts';
import { texts } from '../texts/english.ts';
import { formatMoment, readerZone } from './format.ts';

/** A moment in the reader's zone, with that of the organization beside it where the two differ. */
export function Moment({ at }: { at: string | null }) {
  const { organization } = useSession();
  if (at === null) return texts.none;
  const time = <time dateTime={at}>{formatMoment(at)}</time>;
  if (organization.timezone === readerZone) return time;
  const there = texts.time.inOrganization(formatMoment(at, organization.timezone), organization.timezone);
  return (
    <Tooltip label={there} events={{ hover: true, focus: true, touch: true }}>
      <Text span inherit tabIndex={0} aria-description={there}>
        {time}
      </Text>
    </Tooltip>
  );
}
