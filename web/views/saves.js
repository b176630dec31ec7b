// What else is saved: the genome in the file of a library, and the network in other forms.
import { choice } from "./choice.js";

export const genome = (actions) => choice({
  method: "library", label: "The genome for", look: (state) => state.result?.libraries,
}, actions);

export const forms = (actions) => choice({
  method: "form", label: "The network as", look: (state) => state.result?.forms,
}, actions);
