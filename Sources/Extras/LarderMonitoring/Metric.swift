import Larder

/// A figure of a store with its name, for a system that collects metrics. `Docs/Operate/Monitoring.md` lists the names.
public struct Metric: Hashable, Sendable {
  /// How a metric moves.
  public enum Kind: String, Hashable, Sendable {
    /// The value goes up and down.
    case gauge
    /// The value goes up. A reset of the statistics may set the value to 0.
    case counter
  }

  /// A label and its value.
  public struct Dimension: Hashable, Sendable {
    /// `store`, `namespace`, `reason` or `resource`.
    public let name: String
    /// The name of a store or namespace, a reason or a resource; never a key or a value of the store.
    public let value: String
  }

  /// The name begins with `larder_`. A unit, such as `bytes` or `ratio`, is at its end.
  public let name: String
  /// The labels of the metric.
  public let dimensions: [Dimension]
  /// How the metric moves.
  public let kind: Kind
  /// The value in the unit of the name, such as bytes or a ratio of 0 to 1.
  public let value: Double
}

/// The metrics of a store at one moment.
struct MetricList {
  private(set) var all: [Metric] = []
  private let store: Metric.Dimension

  /// - Parameter name: the name of the store in the labels.
  init(_ statistics: Statistics, _ health: StoreHealth, store name: String) {
    store = Metric.Dimension(name: "store", value: name)
    gauge("larder_healthy", health == .healthy ? 1 : 0)
    gauge("larder_file_bytes", statistics.file.size)
    gauge("larder_free_bytes", statistics.file.freePages * statistics.file.pageSize)
    gauge("larder_readers", statistics.readers.count { $0.age != nil })
    gauge(
      "larder_oldest_reader_commits", Int(clamping: statistics.readers.compactMap(\.age).max() ?? 0)
    )
    counter("larder_commits", statistics.file.transaction)
    let usage = statistics.usage
    for (resource, tier) in [
      ("entries", usage.entries), ("bytes", usage.bytes), ("disk", usage.disk),
      ("memory", usage.memory),
    ] {
      guard let utilization = tier.utilization else { continue }
      gauge("larder_utilization_ratio", utilization, ["resource": resource])
    }
    gauge("larder_memory_bytes", usage.memory.used)
    if let buffer = statistics.writeBuffer {
      gauge("larder_write_buffer_bytes", buffer.size.used)
      gauge("larder_utilization_ratio", buffer.size.utilization ?? 0, ["resource": "write_buffer"])
      counter("larder_write_buffer_commits", UInt64(buffer.commits))
      counter("larder_write_buffer_bypasses", UInt64(buffer.bypasses))
      counter("larder_write_buffer_lost", UInt64(buffer.lost))
    }
    for namespace in statistics.namespaces { add(namespace) }
  }

  private mutating func add(_ figures: Statistics.Namespace) {
    let labels = ["namespace": figures.info.name]
    gauge("larder_entries", figures.info.entries, labels)
    gauge("larder_value_bytes", figures.info.bytes, labels)
    let reads = figures.reads
    counter("larder_hits", reads.hits, labels)
    counter("larder_memory_hits", reads.memoryHits, labels)
    counter("larder_stale_hits", reads.staleHits, labels)
    for (reason, count) in [
      ("absent", reads.absent), ("expired", reads.expired), ("stale", reads.stale),
      ("damaged", reads.damaged), ("undecodable", reads.undecodable),
    ] {
      counter("larder_misses", count, labels.merging(["reason": reason]) { $1 })
    }
    let removals = figures.removals
    for (reason, count) in [
      ("expired", removals[.expired]), ("evicted", removals.evicted),
      ("removed", removals[.removed]), ("replaced", removals[.replaced]),
      ("cleared", removals[.cleared]), ("invalidated", removals[.invalidated]),
      ("orphaned", removals[.orphaned]), ("damaged", removals[.damaged]),
    ] {
      counter("larder_removals", count, labels.merging(["reason": reason]) { $1 })
    }
  }

  private mutating func gauge(
    _ name: String, _ value: some BinaryInteger, _ labels: [String: String] = [:]
  ) { gauge(name, Double(value), labels) }

  private mutating func gauge(
    _ name: String, _ value: Double, _ labels: [String: String] = [:]
  ) { append(name, .gauge, value, labels) }

  private mutating func counter(
    _ name: String, _ value: UInt64, _ labels: [String: String] = [:]
  ) { append(name, .counter, Double(value), labels) }

  private mutating func append(
    _ name: String, _ kind: Metric.Kind, _ value: Double, _ labels: [String: String]
  ) {
    let dimensions = labels.sorted { $0.key < $1.key }.map {
      Metric.Dimension(name: $0.key, value: $0.value)
    }
    all.append(Metric(name: name, dimensions: [store] + dimensions, kind: kind, value: value))
  }
}
