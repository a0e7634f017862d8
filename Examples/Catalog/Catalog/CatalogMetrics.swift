import Service

/// Counters of the catalog's reads.
public struct CatalogMetrics: Codable, Sendable, Hashable {
  /// Answers without a request, or from the store because the service could not be reached.
  public var hits = 0
  /// The hits that were stale.
  public var stale = 0
  /// Answers that the service confirmed with a 304.
  public var confirmed = 0
  /// Answers with a body from the service.
  public var misses = 0
  /// Bytes of bodies from the store.
  public var bytesSaved = 0
  /// Bytes of bodies from the service.
  public var bytesReceived = 0
  /// The time of the slowest hit, in milliseconds.
  public var slowestHit = 0.0

  public init() {}

  public var reads: Int { hits + confirmed + misses }

  /// Hits divided by reads; nil without reads.
  public var hitRate: Double? { reads == 0 ? nil : Double(hits) / Double(reads) }

  /// Bytes from the store divided by all bytes; nil without bytes.
  public var savedShare: Double? {
    let all = bytesSaved + bytesReceived
    return all == 0 ? nil : Double(bytesSaved) / Double(all)
  }

  mutating func count(_ reply: Reply, took time: Duration) {
    if reply.isHit || reply.isStale {
      hits += 1
      if reply.isStale { stale += 1 }
      slowestHit = max(slowestHit, time / .milliseconds(1))
    } else if reply.isConfirmed {
      confirmed += 1
    } else {
      misses += 1
      bytesReceived += reply.body.count
      return
    }
    bytesSaved += reply.body.count
  }

  public static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.hits += right.hits
    sum.stale += right.stale
    sum.confirmed += right.confirmed
    sum.misses += right.misses
    sum.bytesSaved += right.bytesSaved
    sum.bytesReceived += right.bytesReceived
    sum.slowestHit = max(left.slowestHit, right.slowestHit)
    return sum
  }
}
