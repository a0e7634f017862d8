/// One access of a trace: a dense key, and the position at which the key returns, which only OPT may read.
struct Request {
  var key: Int
  /// The position of the key's next request, or `never`.
  var next: Int

  static let never = Int(Int32.max)
}

/// A cache of `capacity` entries with its own choice of victims. Caches share no state, so cells can run side by side.
protocol Policy: SendableMetatype {
  static var name: String { get }

  /// An empty cache for the keys `0..<keys`.
  init(capacity: Int, keys: Int)

  /// Serves a request and returns whether it was a hit. Afterwards at most `capacity` entries are cached.
  mutating func access(_ request: Request) -> Bool

  /// The number of cached entries.
  var count: Int { get }

  static func replay(_ trace: Trace, capacity: Int) -> Tally
}

extension Policy {
  static func replay(_ trace: Trace, capacity: Int) -> Tally {
    var policy = Self(capacity: capacity, keys: trace.keys)
    var tally = Tally()
    for position in trace.requests.indices {
      let request = Request(
        key: Int(trace.requests[position]), next: Int(trace.nextRequests[position]))
      let hit = policy.access(request)
      tally.count(hit: hit, size: trace.sizes.isEmpty ? 0 : Int(trace.sizes[position]))
    }
    return tally
  }
}

/// The result of a replay.
struct Tally: Equatable, Codable {
  var requests = 0
  var hits = 0
  var bytes = 0
  var hitBytes = 0

  mutating func count(hit: Bool, size: Int) {
    requests += 1
    bytes += size
    if hit {
      hits += 1
      hitBytes += size
    }
  }

  /// The percentage of requests that were hits.
  var hitRatio: Double { requests == 0 ? 0 : 100 * Double(hits) / Double(requests) }

  /// The percentage of requested bytes that were hits; nil if the trace has no sizes.
  var byteHitRatio: Double? { bytes == 0 ? nil : 100 * Double(hitBytes) / Double(bytes) }
}
