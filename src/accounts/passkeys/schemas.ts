import { z } from '@hono/zod-openapi';
import { createdAt, timestamp } from '../../http/router.ts';

const base64Url = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[\w-]+={0,2}$/, 'Must be base64url, as `toJSON()` of the browser writes it');

const credential = {
  id: base64Url(2_000).describe('Id of the passkey, in base64url.'),
  rawId: base64Url(2_000).describe('The same.'),
  type: z.literal('public-key').describe('Always `public-key`.'),
  authenticatorAttachment: z.string().max(40).nullish().describe('How the authenticator is attached, as the browser says.'),
  clientExtensionResults: z.record(z.string(), z.unknown()).default({}).describe('As the browser says; not used.'),
};

const clientDataJSON = base64Url(4_000).describe('What the browser signed for, in base64url.');

const CreationResponse = z
  .object({
    ...credential,
    response: z
      .looseObject({ clientDataJSON, attestationObject: base64Url(20_000).describe('The new public key, in base64url.') })
      .describe('What the authenticator answered.'),
  })
  .describe('The JSON of the credential that `navigator.credentials.create()` answered.')
  .openapi('CreatedCredential');

export const AddPasskeyBody = z
  .object({
    password: z.string().min(1).max(200).describe('The password of the person: a stolen session must not add a passkey.'),
    name: z.string().trim().min(1, 'Must not be empty').max(100).describe('A name by which the person knows it, such as the device.'),
    credential: CreationResponse,
  })
  .openapi('NewPasskey');

export const PasskeyLogInBody = z
  .object({
    credential: z
      .object({
        ...credential,
        response: z
          .looseObject({
            clientDataJSON,
            authenticatorData: base64Url(4_000).describe('What the authenticator says of itself, in base64url.'),
            signature: base64Url(4_000).describe('The signature by the passkey, in base64url.'),
            userHandle: base64Url(400).nullish().describe('As the authenticator says; not used.'),
          })
          .describe('What the authenticator answered.'),
      })
      .describe('The JSON of the credential that `navigator.credentials.get()` answered.')
      .openapi('SignedCredential'),
  })
  .openapi('PasskeyLogIn');

export const CreationOptions = z
  .looseObject({ challenge: z.string().describe('To be answered within 5 minutes, once.') })
  .describe('For `PublicKeyCredential.parseCreationOptionsFromJSON()` of the browser, as WebAuthn defines it.')
  .openapi('PasskeyCreationOptions');

export const RequestOptions = z
  .looseObject({ challenge: z.string().describe('To be answered within 5 minutes, once.') })
  .describe('For `PublicKeyCredential.parseRequestOptionsFromJSON()` of the browser, as WebAuthn defines it.')
  .openapi('PasskeyRequestOptions');

export const PasskeyRecord = z
  .object({
    id: z.int().describe('Id of the passkey; `passkey_id` in paths.'),
    name: z.string().describe('The name that the person gave it.'),
    is_backed_up: z.boolean().describe('Whether it is in an account of the person, so that it survives the device.'),
    last_used_at: timestamp.nullable().describe('When somebody last logged in by it, ISO 8601 in UTC; null: never.'),
    created_at: createdAt,
  })
  .describe('A key in a device of the person, by which they log in without a password.')
  .openapi('Passkey');

export const PasskeyList = z
  .object({ passkeys: z.array(PasskeyRecord).describe('The newest first.'), total: z.int().describe('How many there are.') })
  .describe('The passkeys of the person.');
