// A network in an address: deflated, base64url, after the #, which no browser sends anywhere.

const MOST = 32_000; // characters that browsers and chats still carry
const LARGE = 400_000; // bytes; not worth trying

const pipe = (bytes, transform) => new Response(new Blob([bytes]).stream().pipeThrough(transform)).arrayBuffer();

async function packed(bytes) {
  const deflated = new Uint8Array(await pipe(bytes, new CompressionStream("deflate-raw")));
  let text = "";
  for (let at = 0; at < deflated.length; at += 8192) text += String.fromCharCode(...deflated.subarray(at, at + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function unpacked(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return pipe(Uint8Array.from(plain, (letter) => letter.charCodeAt(0)), new DecompressionStream("deflate-raw"));
}

/**
 * The part of an address after # that brings a conversion back; null if it would be too long.
 * @param made {name, load, sample, configuration, genome, settings, times}
 */
export async function linkTo({ name, load, sample, configuration, genome, settings, times }) {
  const parts = new URLSearchParams();
  if (sample) parts.set("sample", sample);
  else {
    const file = await load();
    if (file.size > LARGE) return null;
    parts.set("name", name);
    parts.set("net", await packed(await file.arrayBuffer()));
  }
  if (configuration) {
    parts.set("config-name", configuration.name);
    parts.set("config", await packed(await (await configuration.load()).arrayBuffer()));
  }
  if (genome !== null) parts.set("genome", genome);
  if (Object.keys(settings).length) parts.set("options", JSON.stringify(settings));
  if (times) parts.set("times", JSON.stringify(times));
  const link = `#${parts}`;
  return link.length > MOST ? null : link;
}

/** What a link asks for: {name, load, sample, configuration, genome, settings, times}; null if it asks for nothing. */
export function linked(hash, loadSample) {
  const parts = new URLSearchParams(hash.slice(1));
  const sample = parts.get("sample");
  const packedNetwork = parts.get("net");
  if (!sample && !packedNetwork) return null;
  const name = sample ? `${sample}.json` : parts.get("name") ?? "linked.json";
  const load = sample ? () => loadSample(sample) : () => fileOf(name, packedNetwork);
  const besides = { configuration: configurationOf(parts), genome: integer(parts.get("genome")) };
  return { name, load, sample, ...besides, settings: json(parts.get("options")) ?? {}, times: json(parts.get("times")) };
}

function configurationOf(parts) {
  const [name, text] = [parts.get("config-name") ?? "config", parts.get("config")];
  return text === null ? null : { name, load: () => fileOf(name, text) };
}

const integer = (text) => (/^-?\d{1,9}$/.test(text ?? "") ? Number(text) : null);

async function fileOf(name, text) {
  try {
    return new File([await unpacked(text)], name);
  } catch {
    throw { kind: "DocumentError", message: "this link is damaged", hint: "Copy it again, the whole of it" };
  }
}

function json(text) {
  try {
    const value = JSON.parse(text ?? "null");
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
