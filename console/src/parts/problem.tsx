import { Alert, Button, Group, Text } from '@mantine/core';
import { texts } from '../texts/english.ts';

/** What went wrong in the API's own sentence, and the next step. */
export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <Alert role="alert" color="red" title={texts.problem.title}>
      <Text style={{ whiteSpace: 'pre-line' }}>{error.message}</Text>
      {retry && (
        <Group mt="sm">
          <Button variant="default" size="xs" onClick={retry}>
            {texts.tryAgain}
          </Button>
        </Group>
      )}
    </Alert>
  );
}
