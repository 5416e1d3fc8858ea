import { randomBytes } from 'node:crypto';

/**
 * A version 8 UUID (RFC 9562) whose first 48 bits are the organization's id, so that a webhook finds its shard directly. The remaining 74 bits
 * are random, so that the address cannot be guessed.
 */
export function newTriggerUuid(organizationId: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(organizationId, 0, 6);
  bytes[6] = 0x80 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const uuidPattern = /^([0-9a-f]{8})-([0-9a-f]{4})-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The organization of a trigger's UUID; null when the UUID has another form. */
export function organizationIdFromUuid(uuid: string): number | null {
  const match = uuidPattern.exec(uuid.toLowerCase());
  return match ? Number.parseInt(match[1]! + match[2]!, 16) : null;
}
