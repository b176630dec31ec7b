// Activations that behave alike share a colour; the colours themselves are in style.css.

const FAMILIES = {
  sigmoid: ["sigmoid", "logistic"],
  tanh: ["tanh", "softsign", "bipolarsigmoid", "hardtanh", "clamped"],
  rectifier: ["relu", "lelu", "leakyrelu", "elu", "selu", "softplus", "swish", "gelu", "mish"],
  wave: ["sin", "sinusoid", "gauss", "gaussian", "hat"],
  step: ["step", "bipolar"],
  curve: ["abs", "absolute", "square", "cube", "exp", "log", "inv", "inverse", "complement",
    "bentidentity"],
  linear: ["identity", "linear"],
};

export const TITLES = {
  sigmoid: "sigmoid", tanh: "tanh-like", rectifier: "rectifiers", wave: "waves and bumps",
  step: "steps", curve: "other curves", linear: "identity", other: "other",
};

/** The family of an activation; libraries spell the names in their own ways. */
export function family(activation) {
  const plain = activation.toLowerCase().replace(/^neat_/, "").replace(/[^a-z]/g, "");
  const found = Object.entries(FAMILIES).find(([, names]) => names.includes(plain));
  return found ? found[0] : "other";
}
