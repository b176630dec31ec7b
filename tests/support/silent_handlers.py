"""Handlers that drop an error: where each is, and why nobody has to hear of it."""

SILENT = [
    ("cli/__init__.py:_run", "who pressed Ctrl-C knows; the exit code says it as well"),
    ("cli/deepest.py:_holds", "the refusal is the answer: the next tensor is tried"),
    ("conversion.py:_inferred", "the checker, which is asked next, says why"),
    ("files.py:_mode_of", "a file that is not there yet has no mode to keep"),
    ("files.py:sniff", "bytes that are no text are binary, an answer like the others"),
    ("genome/read.py:_with_genome", "one of several ways; in the end an error is raised"),
    ("libraries/genome_graph.py:has_cycle", "the error is the answer"),
    ("libraries/neat_python/ctrnn.py:_rate", "an infinite rate is refused in the next line"),
    (
        "libraries/neat_python/functions.py:_formula",
        "the caller refuses the function by its name",
    ),
    (
        "libraries/neat_python/generation.py:generation_of",
        "the genomes are read one by one then",
    ),
    (
        "libraries/neat_python/generation.py:network_of",
        "the genome is read as a document then",
    ),
    (
        "libraries/neat_python/numbers.py:_array",
        "the caller refuses the gene that is no number",
    ),
    (
        "libraries/neat_python/printed.py:_value",
        "a text that is no number is a function's name",
    ),
    (
        "libraries/neat_python/timed.py:_gives",
        "genes that cannot be read are not the network's",
    ),
    ("libraries/neat_python/timed.py:candidates", "one of several ways; the caller refuses"),
    ("libraries/neataptic_ts/onnx/conv_inputs.py:_specs", "ambiguous inputs are refused later"),
    ("libraries/neataptic_ts/onnx/metadata.py:is_readable", "the error is the answer"),
    ("libraries/neataptic_ts/onnx/shapes.py:window_of", "the error is the answer"),
    ("libraries/sharpneat/xml.py:_number", "NaN is refused in the next line, with the text"),
    (
        "libraries/text_numbers.py:finite_number",
        "NaN is refused in the next line, with the text",
    ),
    ("libraries/text_numbers.py:value", "a text that is no number stays a text"),
    ("lifting/interpreter.py:_schema", "an operator that onnx does not know has no body"),
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
    ("model/crashes.py:_needed_inputs", "an operator that onnx does not know is not run by it"),
    (
        "model/inference.py:inferred_facts",
        "the facts that the graph states; the checker says why",
    ),
    (
        "model/missing_types.py:with_missing_types",
        "the types stay open; whoever needs them says so",
    ),
    (
        "model/negative_sizes.py:_inferred",
        "a type that is not known has no size below 0; inference itself says why",
    ),
    ("model/numbers.py:number_list", "the slow way, number by number, raises with the place"),
    ("model/open_node.py:_type_of", "no entry of a list; validation of the node says so"),
    ("model/open_node.py:schema_of", "operators of other domains have no schema"),
    ("model/parts.py:check_binary", "a file that ends too early; protobuf says so"),
    ("model/validation_errors.py:_label", "the path of an error ends where the document does"),
    ("network/run.py:_one", "arrays compute the samples that Python's functions refuse"),
    ("network/run.py:_steps", "arrays compute the samples that Python's functions refuse"),
    (
        "operators/export/formulas/custom.py:_matched",
        "attributes that the function refuses do not match",
    ),
    ("operators/export/spatial/apart.py:_fits", "the error is the answer"),
    ("operators/export/spatial/infer.py:_is_valid", "the error is the answer"),
    ("page/bridge.py:_json", "numbers that JSON has not are written as words"),
    ("page/bridge.py:call", "the answer itself says that memory ran out"),
    ("page/library_files.py:facts_of", "the file says by itself what it lacks"),
    ("passes/fold_constants.py:_computed", "the node stays; whoever loads the model says why"),
    ("verification/first_difference.py:first_difference", "a failed report without a place"),
    ("verification/open_batch.py:_runs", "the error is the answer"),
    (
        "verification/quantized.py:has_its_weights",
        "a model without a network has no weights of one",
    ),
    (
        "verification/runtimes/onnxruntime_web.py:ask",
        "a missing answer is raised a few lines below",
    ),
]
