import Larder

/// A figure of a store with its name, for a system that collects metrics. `Docs/Operate/Monitoring.md` lists the names.
public struct Metric: Hashable, Sendable {
  /// How the value of a metric changes.
  public enum Kind: String, Hashable, Sendable {
    /// The value may rise and fall.
    case gauge
    /// The value only rises, but a reset of the statistics may set the value to 0.
    case counter
  }

  /// A label and its value.
  public struct Dimension: Hashable, Sendable {
    /// `store`, `namespace`, `reason` or `resource`.
    public let name: String
    /// The name of a store or namespace, a reason or a resource; never a key or a value of the store.
    public let value: String
  }

  /// The name of the metric. The name begins with `larder_` and ends with the unit, such as `bytes` or `ratio`.
  public let name: String
  /// The labels of the metric.
  public let dimensions: [Dimension]
  /// Whether the metric is a gauge or a counter.
  public let kind: Kind
  /// The value in the unit of the name, such as bytes or a ratio of 0 to 1.
  public let value: Double
}

/// The metrics of a store at one moment.
struct MetricList {
  private(set) var all: [Metric] = []
  private let store: Metric.Dimension

  /// - Parameter statistics: nil if no look has read the statistics; then the list has only the health.
  init(_ statistics: Statistics?, isHealthy: Bool, store name: String) {
    store = Metric.Dimension(name: "store", value: name)
    add("larder_healthy", .gauge, isHealthy ? 1.0 : 0.0)
    guard let statistics else { return }
    add("larder_file_bytes", .gauge, statistics.file.size)
    add("larder_free_bytes", .gauge, statistics.file.freePages * statistics.file.pageSize)
    add("larder_readers", .gauge, statistics.readers.count { $0.age != nil })
    add("larder_oldest_reader_commits", .gauge, statistics.readers.compactMap(\.age).max() ?? 0)
    add("larder_commits", .counter, statistics.file.transaction)
    let usage = statistics.usage
    for (resource, tier) in [
      ("entries", usage.entries), ("bytes", usage.bytes), ("disk", statistics.usedDisk),
      ("memory", usage.memory),
    ] {
      guard let utilization = tier.utilization else { continue }
      add("larder_utilization_ratio", .gauge, utilization, ["resource": resource])
    }
    add("larder_memory_bytes", .gauge, usage.memory.used)
    if let buffer = statistics.writeBuffer {
      add("larder_write_buffer_bytes", .gauge, buffer.size.used)
      add(
        "larder_utilization_ratio", .gauge, buffer.size.utilization ?? 0,
        ["resource": "write_buffer"])
      add("larder_write_buffer_commits", .counter, buffer.commits)
      add("larder_write_buffer_bypasses", .counter, buffer.bypasses)
      add("larder_write_buffer_lost", .counter, buffer.lost)
    }
    for namespace in statistics.namespaces { add(namespace) }
  }

  private mutating func add(_ figures: Statistics.Namespace) {
    let labels = ["namespace": figures.info.name]
    add("larder_entries", .gauge, figures.info.entries, labels)
    add("larder_value_bytes", .gauge, figures.info.bytes, labels)
    let reads = figures.reads
    add("larder_hits", .counter, reads.hits, labels)
    add("larder_memory_hits", .counter, reads.memoryHits, labels)
    add("larder_stale_hits", .counter, reads.staleHits, labels)
    for (reason, count) in [
      ("absent", reads.absent), ("expired", reads.expired), ("stale", reads.stale),
      ("damaged", reads.damaged), ("undecodable", reads.undecodable),
    ] { add("larder_misses", .counter, count, labels.merging(["reason": reason]) { $1 }) }
    let removals = figures.removals
    for (reason, count) in [
      ("expired", removals[.expired]), ("evicted", removals.evicted),
      ("removed", removals[.removed]), ("replaced", removals[.replaced]),
      ("cleared", removals[.cleared]), ("invalidated", removals[.invalidated]),
      ("orphaned", removals[.orphaned]), ("damaged", removals[.damaged]),
    ] { add("larder_removals", .counter, count, labels.merging(["reason": reason]) { $1 }) }
  }

  private mutating func add(
    _ name: String, _ kind: Metric.Kind, _ value: some BinaryInteger,
    _ labels: [String: String] = [:]
  ) { add(name, kind, Double(value), labels) }

  private mutating func add(
    _ name: String, _ kind: Metric.Kind, _ value: Double, _ labels: [String: String] = [:]
  ) {
    let dimensions = labels.sorted { $0.key < $1.key }.map {
      Metric.Dimension(name: $0.key, value: $0.value)
    }
    all.append(Metric(name: name, dimensions: [store] + dimensions, kind: kind, value: value))
  }
}
