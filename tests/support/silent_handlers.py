"""Handlers that drop an error: where each is, and why nobody has to hear of it."""

SILENT = [
    ("cli/__init__.py:_run", "who pressed Ctrl-C knows; the exit code says it as well"),
    ("cutting.py:_holds", "the refusal is the answer: the next tensor is tried"),
    ("files.py:sniff", "bytes that are no text are binary, an answer like the others"),
    ("genome/read.py:_with_genome", "one of several ways; in the end an error is raised"),
    ("libraries/genome_graph.py:has_cycle", "the error is the answer"),
    ("libraries/neat_python/generation.py:generation_of", "the genomes are read one by one then"),
    ("libraries/neat_python/pickled.py:_array", "the caller refuses the gene that is no number"),
    ("libraries/neat_python/sources.py:_value", "a text that is no number is a function's name"),
    ("libraries/neat_python/draft.py:_gives", "genes that cannot be read are not the network's"),
    ("libraries/neat_python/draft.py:_timed_genes", "names that lead to no genes are no hint"),
    ("libraries/neataptic_ts/onnx/spec.py:is_readable", "the error is the answer"),
    ("libraries/neataptic_ts/onnx/space.py:window_of", "the error is the answer"),
    (
        "libraries/names.py:finite_number",
        "NaN is refused in the next line, with the text",
    ),
    ("lifting/interpreter.py:_require_broadcast", "the operator refuses shapes that do not fit"),
    ("lifting/proof.py:_difference", "samples on which runtimes owe no order are left out"),
    (
        "lifting/proof.py:_first_tensor",
        "a runtime that shows no inner tensors: the output is named",
    ),
    ("lifting/source.py:with_source", "a model that no file can hold is no way back"),
    (
        "lowering/provenance.py:_with_numbers_of",
        "a number is no weight of a neuron, and the ordinary export is right",
    ),
    (
        "model/inference.py:inferred_facts",
        "the facts that the graph states; the checker says why",
    ),
    (
        "model/plain_proto.py:with_missing_types",
        "the types stay open; whoever needs them says so",
    ),
    (
        "model/crashes.py:_inferred",
        "a type that is not known has no size below 0; inference itself says why",
    ),
    ("model/data_type.py:number_list", "the slow way, number by number, raises with the place"),
    ("model/graph.py:_type_of", "no entry of a list; validation of the node says so"),
    ("model/graph.py:schema_of", "operators of other domains have no schema"),
    ("model/budget.py:check_binary", "a file that ends too early; protobuf says so"),
    ("model/node.py:_label", "the path of an error ends where the document does"),
    ("network/run.py:_one", "arrays compute the samples that Python's functions refuse"),
    ("network/run.py:_steps", "arrays compute the samples that Python's functions refuse"),
    (
        "operators/export/custom.py:_matched",
        "attributes that the function refuses do not match",
    ),
    ("operators/export/spatial/infer.py:_convolution", "the error is the answer"),
    ("page/bridge.py:call", "the answer itself says that memory ran out"),
    ("page/reading.py:facts_of_checkpoint", "the file says by itself what it lacks"),
    ("passes/fold_constants.py:_computed", "the node stays; whoever loads the model says why"),
    ("verification/first_difference.py:first_difference", "a failed report without a place"),
]
