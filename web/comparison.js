// The result compared with the network of another file: by genome, and by function.
import { Cancelled, whyFailed } from "./engine.js";

/** {name, genome, function}, as `difference` of the bridge gives them, or {name, failed}: why not. */
export async function comparison(engine, { name, load, configuration }, onProgress) {
  try {
    const config = configuration ? await (await configuration.load()).text() : null;
    const data = await (await load()).arrayBuffer();
    const { result } = await engine.call("difference", { name, config }, data, onProgress);
    return { name, ...result };
  } catch (reason) {
    if (reason instanceof Cancelled) throw reason;
    return { name, failed: whyFailed(reason) };
  }
}
