/// One access of a trace: a dense key, and when the key comes back, which only OPT may look at.
struct Request {
  var key: Int
  /// The position of the key's next request, or `never`.
  var next: Int

  static let never = Int(Int32.max)
}

/// A cache of `capacity` entries that decides what stays. A policy keeps its whole state in itself, so cells run side by side.
protocol Policy: SendableMetatype {
  static var name: String { get }

  /// Keys are `0..<keys`; nothing is cached at first.
  init(capacity: Int, keys: Int)

  /// Serves a request and says whether it was a hit. After it at most `capacity` entries are cached.
  mutating func access(_ request: Request) -> Bool

  /// How many entries are cached.
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

/// What a replay found.
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

  /// Percent of the requests that were hits.
  var hitRatio: Double { requests == 0 ? 0 : 100 * Double(hits) / Double(requests) }

  /// Percent of the bytes asked for that were hits; nil where the trace has no sizes.
  var byteHitRatio: Double? { bytes == 0 ? nil : 100 * Double(hitBytes) / Double(bytes) }
}
