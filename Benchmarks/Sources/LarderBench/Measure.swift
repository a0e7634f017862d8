/// Nanoseconds an operation took, over several rounds that alternate between the two sides.
struct Sample {
  var nanoseconds: [Double] = []

  var median: Double {
    let sorted = nanoseconds.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
  }
}

/// Runs both sides in turn, so that a noisy moment hits both; the ratio is the median of the rounds' ratios.
func compare(
  rounds: Int, operations: Int, ours: () throws -> Void, raw: () throws -> Void
) rethrows -> (ours: Sample, raw: Sample, ratio: Double, spread: ClosedRange<Double>) {
  var left = Sample()
  var right = Sample()
  var ratios: [Double] = []
  try ours()
  try raw()
  for _ in 0..<rounds {
    let a = try nanoseconds(ours) / Double(operations)
    let b = try nanoseconds(raw) / Double(operations)
    left.nanoseconds.append(a)
    right.nanoseconds.append(b)
    ratios.append(a / b)
  }
  ratios.sort()
  return (
    left, right, ratios[ratios.count / 2], ratios[ratios.count / 5]...ratios[ratios.count * 4 / 5]
  )
}

func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
  let time = try ContinuousClock().measure(body)
  return Double(time.components.seconds) * 1e9 + Double(time.components.attoseconds) / 1e9
}
