// What a person drops, chooses or pastes → {name, load} of one file, with a `configuration`, {name, load}
// too, if a genome of neat-python came with its own, and the `other` of two files, which the first is
// compared with; or a {series} of such files, in the order of their numbers; or {notice}: a sentence on why not.

const FITS = /\.(json|onnx|onnxtxt|onnxtext|textproto|txtpb|pbtxt|prototxt|pkl|pickle|net|neat|out|xml|ya?ml)$|^neat-checkpoint/i;
const CONFIGURES = /config|\.(ini|cfg)$/i; // a file of neat-python beside its genome
const one = (file) => ({ name: file.name, load: async () => file });

/** Of a drop: a file, the only fitting one of a folder or of several, or JSON as text. */
export async function dropped(data) {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const folder = entries.find((entry) => entry.isDirectory);
  const files = [...data.files];
  if (folder) return chosen(await filesIn(folder), `the folder ${folder.name}`);
  if (files.length) return several(files);
  return text(data.getData("text/plain"), "dropped");
}

/** Of files dropped or chosen at once. */
export const several = (files) => (files.length === 1 ? one(files[0]) : chosen(files, "what you dropped"));

/** Of a paste: a file or JSON; null if it is neither and nobody should mind. */
export function pasted(data) {
  const [file] = data.files;
  return file ? one(file) : text(data.getData("text/plain"), "pasted");
}

function chosen(files, place) {
  const configurations = files.filter(({ name }) => CONFIGURES.test(name) && !FITS.test(name));
  const others = files.filter((file) => !configurations.includes(file));
  if (configurations.length === 1 && others.length === 1) {
    return { ...one(others[0]), configuration: one(configurations[0]) };
  }
  const fitting = files.filter(({ name }) => FITS.test(name));
  if (fitting.length === 1) return { ...one(fitting[0]), ...beside(configurations, fitting[0]) };
  if (fitting.length === 2) {
    return { ...one(fitting[0]), ...beside(configurations, fitting[0]), other: { ...one(fitting[1]), ...beside(configurations, fitting[1]) } };
  }
  if (fitting.length > 2) return { series: [...fitting].sort(byNumber).map(one), configuration: configurations.length === 1 ? one(configurations[0]) : null };
  return { notice: `There is no file of a network or a model in ${place}.` };
}

/** By the numbers in names, so that checkpoint 9 stands before checkpoint 10. */
const byNumber = ({ name: a }, { name: b }) => a.localeCompare(b, "en", { numeric: true });

/** The configuration that goes with a genome, if there is just one. */
function beside(configurations, { name }) {
  return configurations.length === 1 && !/\.(json|onnx)$/i.test(name) ? { configuration: one(configurations[0]) } : {};
}

/** A text as a file: what it is, the engine finds. */
function text(content, how) {
  const begin = content.trim();
  if (/^[a-z]+:\/\/\S+$/i.test(begin)) {
    return { notice: "That is an address. This page fetches nothing from elsewhere: download the file, then drop it here." };
  }
  if (!begin) return { notice: "There was nothing in it that this page can read. Drop a file, or paste its text." };
  const name = `${how}.${/^[{[]/.test(begin) ? "json" : "txt"}`;
  return { name, load: async () => new File([content], name) };
}

/** The files directly in a folder; a reader gives its entries in batches, and after the last an empty one. */
async function filesIn(folder) {
  const reader = folder.createReader();
  const files = [];
  for (;;) {
    const entries = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
    if (!entries.length) return Promise.all(files.map((entry) => new Promise((resolve, reject) => { entry.file(resolve, reject); })));
    files.push(...entries.filter((entry) => entry.isFile));
  }
}
