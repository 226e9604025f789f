// The compact message in which frames and the story's replay come: a JSON header, then arrays at the offsets it gives.

const TYPES = {
  int8: Int8Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  float32: Float32Array,
};

export function decode(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const message = { ...header };
  for (const [name, place] of Object.entries(header.arrays)) {
    const count = place.shape.reduce((a, b) => a * b, 1);
    message[name] = new TYPES[place.type](buffer, 4 + length + place.offset, count);
  }
  message.shown = message.neurons?.length;
  return message;
}

export const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

export function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
