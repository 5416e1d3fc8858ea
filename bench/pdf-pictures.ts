const [width, height] = [512, 512];
const pictureBytes = width * height;

const toBytes = (text: string) => new TextEncoder().encode(text);

/**
 * Adds pictures of noise to a PDF as an incremental update at its end; no page shows them. `firstNumber` is the first object number that the PDF does
 * not use. The file becomes at most `maxBytes` long, and at most one picture shorter.
 */
export function withPictures(pdf: Uint8Array, firstNumber: number, maxBytes: number, random: () => number): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [pdf];
  const offsets: number[] = [];
  let length = pdf.length;
  const count = Math.floor((maxBytes - pdf.length) / (pictureBytes + bytesBesideEach));
  for (let number = firstNumber; number < firstNumber + count; number++) {
    offsets.push(length);
    const picture = pictureObject(number, random);
    parts.push(picture);
    length += picture.length;
  }
  const before = /startxref\n(\d+)\n%%EOF\n$/.exec(new TextDecoder('latin1').decode(pdf.subarray(-64)))![1];
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer << /Size ${firstNumber + count} /Root 1 0 R /Prev ${before} >>`;
  parts.push(toBytes(`xref\n${firstNumber} ${count}\n${table}${trailer}\nstartxref\n${length}\n%%EOF\n`));
  return new Uint8Array(Buffer.concat(parts));
}

/** An upper bound of what a picture takes beside its noise, with its line in the cross-reference table. */
const bytesBesideEach = 300;

function pictureObject(number: number, random: () => number): Uint8Array {
  const is = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8`;
  const noise = Uint8Array.from({ length: pictureBytes }, () => random() * 256);
  return Buffer.concat([
    toBytes(`${number} 0 obj\n<< ${is} /Length ${pictureBytes} >>\nstream\n`),
    noise,
    toBytes('\nendstream\nendobj\n'),
  ]);
}
