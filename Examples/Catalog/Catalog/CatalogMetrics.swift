import Service

/// What the cache was worth to the catalog's reads.
public struct CatalogMetrics: Codable, Sendable, Hashable {
  /// Answers that the service had no part in.
  public var hits = 0
  /// Answers that the service was asked about, and found to be still right.
  public var confirmed = 0
  /// Answers that came whole.
  public var misses = 0
  /// Bytes of bodies that did not have to come.
  public var bytesSaved = 0
  /// Bytes of those that came.
  public var bytesReceived = 0
  /// The longest that a hit took, in milliseconds.
  public var slowestHit = 0.0

  public init() {}

  public var reads: Int { hits + confirmed + misses }

  /// The part of the reads that were hits; nil before there was any.
  public var hitRate: Double? { reads == 0 ? nil : Double(hits) / Double(reads) }

  /// The part of all bytes that did not have to come; nil before there were any.
  public var savedShare: Double? {
    let all = bytesSaved + bytesReceived
    return all == 0 ? nil : Double(bytesSaved) / Double(all)
  }

  mutating func count(_ reply: Reply, took time: Duration) {
    if reply.isHit || reply.isStale {
      hits += 1
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
    sum.confirmed += right.confirmed
    sum.misses += right.misses
    sum.bytesSaved += right.bytesSaved
    sum.bytesReceived += right.bytesReceived
    sum.slowestHit = max(left.slowestHit, right.slowestHit)
    return sum
  }
}
