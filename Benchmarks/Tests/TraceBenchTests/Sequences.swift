@testable import TraceBench

/// Makes a trace whose keys are letters: `Trace(letters: "ABA")`.
extension Trace {
  init(letters: String) {
    self.init(name: letters, requests: letters.utf8.map { Int32($0) - 65 })
  }
}

/// The outcome of each request: H for a hit, . for a miss.
func outcome<P: Policy>(_ type: P.Type, capacity: Int, _ letters: String) -> String {
  let trace = Trace(letters: letters)
  var policy = P(capacity: capacity, keys: trace.keys)
  return String(
    trace.requests.indices.map { position in
      let request = Request(
        key: Int(trace.requests[position]), next: Int(trace.nextRequests[position]))
      return policy.access(request) ? "H" : "."
    })
}

/// Random requests with one of several shapes: skewed, in loops, or drifting.
func randomTrace(seed: UInt64) -> Trace {
  var random = SplitMix64(state: seed)
  let keys = Int.random(in: 5...400, using: &random)
  let shape = Int.random(in: 0...2, using: &random)
  let requests = (0..<Int.random(in: 200...1500, using: &random)).map { position -> Int32 in
    let a = Int.random(in: 0..<keys, using: &random)
    switch shape {
    case 0: return Int32(min(a, Int.random(in: 0...a, using: &random)))
    case 1: return Int32(a.isMultiple(of: 3) ? a : position % keys)
    default: return Int32((a / 4 + position / 10) % keys)
    }
  }
  return Trace(name: "seed \(seed)", requests: requests)
}
