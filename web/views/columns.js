// Which column each neuron stands in.

/**
 * Its level; but where nothing of this step leads to a neuron but inputs, as in networks that read
 * everything from the step before, its distance from the inputs. Outputs come last, by themselves.
 * @param neurons [{level, kind}]
 * @param connections [{source, target, delay, enabled}]
 * @returns number[], from 0, none left out
 */
export function columnsOf(neurons, connections) {
  const raw = placed(neurons, connections, distances(neurons, connections));
  const inside = raw.filter((_, neuron) => neurons[neuron].kind !== "output");
  const last = inside.reduce((most, column) => Math.max(most, column), 0) + 1;
  const all = raw.map((column, neuron) => (neurons[neuron].kind === "output" ? last : column));
  const used = [...new Set(all)].sort((a, b) => a - b);
  const index = new Map(used.map((column, position) => [column, position]));
  return all.map((column) => index.get(column));
}

/** How many connections, of any delay, each neuron is away from an input. */
function distances(neurons, connections) {
  const after = neurons.map(() => []);
  for (const { source, target } of connections) after[source].push(target);
  const away = neurons.map(({ kind }) => (kind === "input" ? 0 : Infinity));
  let front = away.flatMap((distance, neuron) => (distance === 0 ? [neuron] : []));
  for (let distance = 1; front.length; distance += 1) {
    front = [...new Set(front.flatMap((neuron) => after[neuron]))].filter((neuron) => away[neuron] > distance);
    for (const neuron of front) away[neuron] = distance;
  }
  return away;
}

function placed(neurons, connections, away) {
  const before = neurons.map(() => []);
  for (const { source, target, delay, enabled } of connections) {
    if (enabled && !delay && neurons[source].kind !== "input") before[target].push(source);
  }
  const column = neurons.map(({ level }) => level);
  const order = neurons.map((_, neuron) => neuron).sort((a, b) => neurons[a].level - neurons[b].level);
  for (const neuron of order) {
    const sources = before[neuron];
    if (sources.length) column[neuron] = 1 + Math.max(...sources.map((source) => column[source]));
    else if (Number.isFinite(away[neuron])) column[neuron] = away[neuron];
  }
  return column;
}
