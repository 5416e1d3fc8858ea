import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { challengeMinutes } from './challenge.ts';
import type { RelyingParty } from './relying-party.ts';

// The part that needs the library of WebAuthn, which is loaded with the first passkey.

/** Whether a challenge is one of ours, of the right purpose, and not over. */
type ChallengeCheck = (challenge: string) => Promise<boolean>;

/** A passkey as an authenticator has made it. Keys and ids in base64url. */
export interface NewCredential {
  id: string;
  publicKey: string;
  signatureCount: number;
  isBackedUp: boolean;
}

const timeout = challengeMinutes * 60_000;

export const toCreationOptions = (
  { id: rpID, name: rpName }: RelyingParty,
  person: { id: number; email: string; name: string | null },
  challenge: string,
  known: { credentialId: string }[],
) =>
  generateRegistrationOptions({
    rpID,
    rpName,
    userID: toBytes(`user:${person.id}`),
    userName: person.email,
    userDisplayName: person.name ?? person.email,
    challenge: toBytes(challenge),
    timeout,
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });

/** Of whoever has a passkey of this site: the browser shows them. */
export const toRequestOptions = ({ id: rpID }: RelyingParty, challenge: string) =>
  generateAuthenticationOptions({ rpID, challenge: toBytes(challenge), timeout, userVerification: 'required' });

/** The passkey that a browser's answer proves; null: it proves none. */
export async function verifyCreation(
  { id, origins }: RelyingParty,
  response: RegistrationResponseJSON,
  isOurs: ChallengeCheck,
): Promise<NewCredential | null> {
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response,
    expectedChallenge: (challenge) => isOurs(fromBase64Url(challenge)),
    expectedOrigin: origins,
    expectedRPID: id,
    requireUserVerification: true,
  });
  if (!verified) return null;
  const { credential, credentialBackedUp } = registrationInfo;
  return {
    id: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    signatureCount: credential.counter,
    isBackedUp: credentialBackedUp,
  };
}

/** How often the passkey has signed by now, if the answer is signed by it; null: it is not. Throws for an answer that is none. */
export async function verifyLogIn(
  { id, origins }: RelyingParty,
  response: AuthenticationResponseJSON,
  passkey: { credentialId: string; publicKey: string; signatureCount: number },
  isOurs: ChallengeCheck,
): Promise<number | null> {
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (challenge) => isOurs(fromBase64Url(challenge)),
    expectedOrigin: origins,
    expectedRPID: id,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
      counter: passkey.signatureCount,
    },
    requireUserVerification: true,
  });
  return verified ? authenticationInfo.newCounter : null;
}

/** The challenge that a browser's answer names, before anything of it is verified; null: it names none. */
export function challengeOf(clientDataJson: string): string | null {
  try {
    const { challenge } = JSON.parse(fromBase64Url(clientDataJson)) as { challenge?: unknown };
    return typeof challenge === 'string' ? fromBase64Url(challenge) : null;
  } catch {
    return null;
  }
}

const fromBase64Url = (text: string): string => Buffer.from(text, 'base64url').toString();

const toBytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text));
