/** A device that keeps one passkey, as a browser shows it to a page. */
export class Authenticator {
  readonly id = crypto.getRandomValues(new Uint8Array(16));
  /** What the device says that it has signed; a copy of the device says less. */
  signatureCount = 0;
  /** Whether it has seen that its owner is there: a finger, a face or a PIN. */
  isUserVerified = true;
  readonly #keys: CryptoKeyPair;
  readonly #origin: string;

  private constructor(keys: CryptoKeyPair, origin: string) {
    this.#keys = keys;
    this.#origin = origin;
  }

  static async create(origin = 'https://service.test'): Promise<Authenticator> {
    const keys = (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify'])) as CryptoKeyPair;
    return new Authenticator(keys, origin);
  }

  /** The JSON of `navigator.credentials.create()`. */
  async make({ challenge, rp }: { challenge: string; rp: { id: string } }): Promise<any> {
    const key = (await crypto.subtle.exportKey('jwk', this.#keys.publicKey)) as JsonWebKey;
    // COSE: an elliptic curve key (1: 2) for ES256 (3: -7) on P-256 (-1: 1), with its x and y.
    const publicKey = cborMap([
      [cborNumber(1), cborNumber(2)],
      [cborNumber(3), cborNumber(-7)],
      [cborNumber(-1), cborNumber(1)],
      [cborNumber(-2), cborBytes(Buffer.from(key.x!, 'base64url'))],
      [cborNumber(-3), cborBytes(Buffer.from(key.y!, 'base64url'))],
    ]);
    const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, publicKey]);
    const data = await this.#authenticatorData(rp.id, credential);
    const attestationObject = cborMap([
      [cborText('fmt'), cborText('none')],
      [cborText('attStmt'), cborMap([])],
      [cborText('authData'), cborBytes(data)],
    ]);
    return this.#credential({
      clientDataJSON: base64Url(this.#clientData('webauthn.create', challenge)),
      attestationObject: base64Url(attestationObject),
      transports: ['internal'],
    });
  }

  /** The JSON of `navigator.credentials.get()`. */
  async sign({ challenge, rpId }: { challenge: string; rpId: string }): Promise<any> {
    this.signatureCount += 1;
    const data = await this.#authenticatorData(rpId);
    const clientData = this.#clientData('webauthn.get', challenge);
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', clientData));
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, this.#keys.privateKey, Buffer.concat([data, hash]));
    return this.#credential({
      clientDataJSON: base64Url(clientData),
      authenticatorData: base64Url(data),
      signature: base64Url(toDer(Buffer.from(signature))),
      userHandle: null,
    });
  }

  #credential(response: object) {
    return { id: base64Url(this.id), rawId: base64Url(this.id), type: 'public-key', clientExtensionResults: {}, response };
  }

  #clientData(type: string, challenge: string): Buffer<ArrayBuffer> {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false }));
  }

  async #authenticatorData(site: string, credential?: Buffer): Promise<Buffer> {
    const flags = 0x01 | (this.isUserVerified ? 0x04 : 0) | (credential ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(this.signatureCount);
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(site));
    return Buffer.concat([Buffer.from(hash), Buffer.from([flags]), count, credential ?? Buffer.alloc(0)]);
  }
}

const base64Url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** The head of a CBOR item: its major type and its number, which is below 65,536. */
function cborHead(type: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(type << 5) | value]);
  return value < 256 ? Buffer.from([(type << 5) | 24, value]) : Buffer.from([(type << 5) | 25, value >> 8, value & 255]);
}
const cborNumber = (value: number): Buffer => (value < 0 ? cborHead(1, -1 - value) : cborHead(0, value));
const cborBytes = (bytes: Uint8Array): Buffer => Buffer.concat([cborHead(2, bytes.length), bytes]);
const cborText = (text: string): Buffer => Buffer.concat([cborHead(3, text.length), Buffer.from(text)]);
const cborMap = (pairs: [Buffer, Buffer][]): Buffer => Buffer.concat([cborHead(5, pairs.length), ...pairs.flat()]);

/** An ECDSA signature of 64 bytes in the form in which authenticators write it. */
function toDer(raw: Buffer): Buffer {
  const integers = [raw.subarray(0, 32), raw.subarray(32)].map((half) => {
    const digits = half.subarray(half.findIndex((byte) => byte !== 0));
    const positive = digits[0]! > 127 ? Buffer.concat([Buffer.from([0]), digits]) : digits;
    return Buffer.concat([Buffer.from([2, positive.length]), positive]);
  });
  const body = Buffer.concat(integers);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}
