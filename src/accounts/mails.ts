import type { Mail } from '../providers/mail/mail-sender.ts';
import type { InvitationRow } from './invitations/store.ts';

/** `organizationName` was chosen by a stranger to the receiver: it stands in the text, on one line, and names the sender in no header. */
export const invitationMail = ({ organizationName, url, row }: { organizationName: string; url: string; row: InvitationRow }): Mail => ({
  subject: 'You are invited to an organization',
  text: `You are invited to join the organization "${oneLine(organizationName)}" with the role ${row.role}.

Accept it here, once, before ${new Date(row.expiresAt).toUTCString()}:
${url}

If you do not know this organization, ignore this mail.
`,
});

export const passwordResetMail = ({ urls, hours }: { urls: string[]; hours: number }): Mail => ({
  subject: 'Choose a new password',
  text: `Somebody, probably you, has asked for a new password for this address.

Choose it here within ${hours} hours:
${urls.join('\n')}

If it was not you, ignore this mail: your password stays as it is.
`,
});

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
