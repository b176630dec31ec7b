// NeatapticTS's activate() of a document with formatVersion 2, written out from its documented
// order of evaluation: nodes in list order, each reading the values that stand there at the moment.
'use strict';
const activations = {
  logistic: (x) => 1 / (1 + Math.exp(-x)),
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  tanh: Math.tanh,
  identity: (x) => x,
  step: (x) => (x > 0 ? 1 : 0),
  relu: (x) => (x > 0 ? x : 0),
  softsign: (x) => x / (1 + Math.abs(x)),
  sinusoid: Math.sin,
  gaussian: (x) => Math.exp(-x * x),
  bentIdentity: (x) => (Math.sqrt(x * x + 1) - 1) / 2 + x,
  bipolar: (x) => (x > 0 ? 1 : -1),
  bipolarSigmoid: (x) => 2 / (1 + Math.exp(-x)) - 1,
  hardTanh: (x) => Math.max(-1, Math.min(1, x)),
  absolute: Math.abs,
  inverse: (x) => 1 - x,
  selu: (x) => 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (Math.exp(x) - 1)),
  softplus: (x) => (x > 30 ? x : x < -30 ? Math.exp(x) : Math.log1p(Math.exp(x))),
  swish: (x) => x / (1 + Math.exp(-x)),
  gelu: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  mish: (x) => x * Math.tanh(activations.softplus(x)),
};

exports.restore = ({ nodes: genes, connections, output }) => {
  const nodes = genes.map((gene) => ({ ...gene, activation: 0, state: 0, into: [], gates: [] }));
  for (const gene of connections) {
    const { from, to, weight, gater, enabled } = gene;
    const link = { source: nodes[from], weight, gain: 1, gated: gater != null && gater in nodes };
    if (link.gated) nodes[gater].gates.push(link);
    if (from === to) nodes[to].loop ??= link; // it acts, enabled or not
    else if (enabled !== false) nodes[to].into.push(link);
  }
  const links = nodes.flatMap((node) => [...node.into, ...(node.loop ? [node.loop] : [])]);
  const reset = () => {
    for (const node of nodes) node.activation = node.state = 0;
    for (const link of links) link.gain = link.gated ? 0 : 1;
  };
  const compute = (node) => {
    let state = node.bias;
    if (node.loop) state += node.loop.gain * node.loop.weight * node.state;
    for (const link of node.into) state += link.source.activation * link.weight * link.gain;
    node.state = state;
    node.activation = activations[node.squash](state);
    for (const link of node.gates) link.gain = node.activation;
  };
  const step = (row) => {
    nodes.forEach((node, at) => {
      if (node.type === 'input') node.activation = row[at];
      else compute(node);
    });
    const found = nodes.filter((node) => node.type === 'output').map((node) => node.activation);
    return found.concat(Array(Math.max(0, output - found.length)).fill(0)); // its array is as long
  };
  return { reset, step };
};
