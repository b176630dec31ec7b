// The export options in groups, and which of them have an effect on a network.

/** In sight; the others are folded, by title. */
export const IN_SIGHT = ["dtype", "opset", "sequence"];
const GROUPS = {
  "What the file holds": ["include_metadata", "embed_network", "encoding", "producer_name", "producer_version", "doc_string"],
  "How layers are written": ["mixed_activations", "functions", "fold", "quantize", "profile", "batch_dimension", "fused_recurrent"],
  "For NeatapticTS": ["dialect", "lossy", "legacy_node_ordering", "validate_conv_sharing"],
  "What to refuse": ["allow_partial_connectivity", "allow_mixed_activations", "allow_recurrent", "recurrent_single_step"],
  "Convolutions and pools": ["infer_conv", "conv2d_mappings", "pool2d_mappings", "flatten_after_pooling"],
};

/** [title, names] of each group; names that no group has come last. */
export function grouped(names) {
  const known = new Set([...IN_SIGHT, ...Object.values(GROUPS).flat()]);
  const rest = names.filter((name) => !known.has(name));
  const groups = Object.entries(GROUPS).map(([title, members]) => [title, members.filter((name) => names.includes(name))]);
  return [...groups, ["Others", rest]].filter(([, members]) => members.length);
}

const OF_MEMORY = ["sequence", "fused_recurrent", "allow_recurrent", "recurrent_single_step"];
const OF_DIALECT = ["lossy", "legacy_node_ordering", "validate_conv_sharing"];
const OF_MODELS = ["encoding", "dialect"]; // all that a file which is a model already can take

/**
 * Whether an option changes anything.
 * @param result {kind, summary}
 * @param value gives what the form says of an option
 */
export function matters(name, { kind, summary }, value) {
  if (kind === "model") return OF_MODELS.includes(name);
  if (OF_MEMORY.includes(name) && !summary.has_memory) return false;
  if (name === "fused_recurrent") return value("sequence") === true && value("dtype") === "float32";
  if (OF_DIALECT.includes(name)) return value("dialect") === "neataptic";
  if (name === "mixed_activations" || name === "allow_mixed_activations") {
    return Object.keys(summary.activations).length > 1;
  }
  if (name === "embed_network") return value("include_metadata") !== false;
  return true;
}
