/// One access of a trace: the number of the key, and the position of the key's next request. Only OPT may read this position.
struct Request {
  var key: Int
  /// The position of the next request of this key, or `never`.
  var next: Int

  static let never = Int(Int32.max)
}

/// A cache of `capacity` entries that chooses which entries to evict. Caches share no state, so replays can run in parallel.
protocol Policy: SendableMetatype {
  static var name: String { get }

  /// Makes an empty cache for the keys `0..<keys`.
  init(capacity: Int, keys: Int)

  /// Serves a request. Returns whether the key was cached. After the call, at most `capacity` entries are cached.
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

/// The result of the replay of a trace.
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

  /// The percentage of requested bytes that were hits. Nil if the trace does not contain sizes.
  var byteHitRatio: Double? { bytes == 0 ? nil : 100 * Double(hitBytes) / Double(bytes) }
}
