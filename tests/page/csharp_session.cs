// A stand-in of onnxruntime's library for C#: the names that the page's programs use. Each run is
// printed, `<input>` with name, type, sizes and values for each input, then `<run>`; standard input
// gives the outputs back, a line each with name, sizes and values, and an empty line.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Microsoft.ML.OnnxRuntime.Tensors;

namespace Microsoft.ML.OnnxRuntime.Tensors
{
    public abstract class Tensor<T>
    {
        public readonly T[] Values;
        public readonly int[] Sizes;

        protected Tensor(T[] values, int[] sizes) { Values = values; Sizes = sizes; }

        public T[] ToArray() { return Values; }

        public DenseTensor<T> ToDenseTensor() { return new DenseTensor<T>(Values, Sizes); }
    }

    public class DenseTensor<T> : Tensor<T>
    {
        public DenseTensor(T[] values, int[] sizes) : base(values, sizes) { }

        public DenseTensor(int[] sizes) : base(new T[sizes.Aggregate(1, (a, b) => a * b)], sizes) { }
    }
}

namespace Microsoft.ML.OnnxRuntime
{
    public class NamedOnnxValue
    {
        public string Name;
        public string Kind;
        public int[] Sizes;
        public string[] Values;

        public static NamedOnnxValue CreateFromTensor<T>(string name, Tensor<T> tensor)
        {
            return new NamedOnnxValue
            {
                Name = name,
                Kind = typeof(T) == typeof(float) ? "float32" : typeof(T) == typeof(double) ? "float64"
                    : typeof(T) == typeof(bool) ? "bool" : typeof(T) == typeof(sbyte) ? "int8"
                    : typeof(T) == typeof(byte) ? "uint8" : typeof(T).Name,
                Sizes = tensor.Sizes,
                Values = tensor.Values
                    .Select(value => Convert.ToString(value, CultureInfo.InvariantCulture)).ToArray(),
            };
        }

        public Tensor<T> AsTensor<T>()
        {
            return new DenseTensor<T>(Values.Select(text =>
                (T)Convert.ChangeType(text, typeof(T), CultureInfo.InvariantCulture)).ToArray(), Sizes);
        }
    }

    public class Results : List<NamedOnnxValue>, IDisposable
    {
        public void Dispose() { }
    }

    public class InferenceSession
    {
        public InferenceSession(string path) { }

        public Results Run(IReadOnlyCollection<NamedOnnxValue> inputs)
        {
            foreach (var each in inputs)
                Console.WriteLine("<input>\t" + each.Name + "\t" + each.Kind + "\t"
                    + string.Join(",", each.Sizes) + "\t" + string.Join(" ", each.Values));
            Console.WriteLine("<run>");
            Console.Out.Flush();
            var results = new Results();
            for (var line = Console.ReadLine(); line != ""; line = Console.ReadLine())
            {
                var parts = line.Split('\t');
                results.Add(new NamedOnnxValue
                {
                    Name = parts[0],
                    Sizes = parts[1].Split(',').Where(size => size != "").Select(int.Parse).ToArray(),
                    Values = parts[2].Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries),
                });
            }
            return results;
        }
    }
}
