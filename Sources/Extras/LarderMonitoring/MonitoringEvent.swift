import Larder

/// A fault or a change of a store that concerns its operator. `Docs/Operate/Monitoring.md` lists the names.
public struct MonitoringEvent: Hashable, Sendable {
  /// How serious an event is.
  public enum Level: String, Hashable, Sendable {
    /// No action is needed.
    case notice
    /// The cache works, but less well than it could.
    case warning
    /// The store cannot be used as it should.
    case error
  }

  /// `health`, `unreadable`, `undecodable`, `damaged`, `evicting`, `full`, `limit_lowered` or `lagging_reader`.
  public let name: String
  /// How serious the event is.
  public let level: Level
  /// A sentence that may have numbers and names of namespaces, but never a key or a value.
  public let message: String
  /// The namespace that the event is about; nil if the event is about the whole store.
  public let namespace: String?

  init(_ name: String, _ level: Level, _ message: String, namespace: String? = nil) {
    self.name = name
    self.level = level
    self.message = message
    self.namespace = namespace
  }
}

extension Statistics {
  /// A resource is full if at least this part of its limit is used. Only the first look at a full resource reports the resource.
  private static let fullAt = 0.95
  /// A reader lags if its snapshot is at least this many commits old, because LMDB cannot reuse pages that these commits free.
  private static let laggingAfter: UInt64 = 10_000

  /// The events since `before`. If `before` is nil, these are the first statistics, so only present faults are reported.
  func events(since before: Statistics?) -> [MonitoringEvent] {
    var events: [MonitoringEvent] = []
    if isLagging, before?.isLagging != true {
      events.append(
        MonitoringEvent(
          "lagging_reader", .warning,
          "a reader holds a snapshot that is \(oldestReader) commits old: the file cannot use the pages freed since again"
        ))
    }
    for (name, tier) in resources where isFull(tier) {
      let was = before?.resources.first { $0.name == name }.map { isFull($0.tier) }
      if was == true { continue }
      events.append(
        MonitoringEvent(
          "full", .notice,
          "\(tier.used) of \(tier.limit ?? 0) \(name) are used: writes evict entries, or fail if none may be evicted"
        ))
    }
    guard let before else { return events }
    let known = Dictionary(
      before.namespaces.map { (Key($0.info.name), $0) }, uniquingKeysWith: { $1 })
    let present = Set(namespaces.map { Key($0.info.name) })
    let gone = before.namespaces.filter { !present.contains(Key($0.info.name)) }
    for namespace in namespaces {
      // A renamed namespace keeps its counts and the time at which it was made.
      let old =
        known[Key(namespace.info.name)] ?? gone.first { $0.info.created == namespace.info.created }
      events += namespace.events(since: old)
    }
    return events
  }

  private var oldestReader: UInt64 { readers.compactMap(\.age).max() ?? 0 }
  private var isLagging: Bool { oldestReader >= Self.laggingAfter }

  private var resources: [(name: String, tier: Tier)] {
    [
      ("entries", usage.entries), ("bytes of values", usage.bytes),
      ("bytes of the data file", usedDisk),
    ]
  }

  private func isFull(_ tier: Tier) -> Bool { (tier.utilization ?? 0) >= Self.fullAt }
}

extension StoreHealth {
  /// The event for a change to this health.
  var event: MonitoringEvent {
    let message =
      switch self {
      case .healthy: "the store's files are in order again"
      case .missing: "the store's files were deleted or moved: close the store and open it again"
      case .replaced: "another store is in the place of this one: close the store and open it again"
      case .unwritable(let reason): "the store cannot be written: \(reason)"
      }
    return MonitoringEvent("health", self == .healthy ? .notice : .error, message)
  }
}

extension Statistics.Namespace {
  /// The events since `old`, which is nil for a new namespace: its counts began at 0.
  fileprivate func events(since old: Statistics.Namespace?) -> [MonitoringEvent] {
    // After a reset a count begins again at 0, so a lower count is no rise.
    func rise(_ now: UInt64, _ before: UInt64?) -> UInt64? {
      let before = before ?? 0
      return now > before ? now - before : nil
    }
    var events: [MonitoringEvent] = []
    func add(_ name: String, _ level: MonitoringEvent.Level, _ message: String) {
      events.append(MonitoringEvent(name, level, message, namespace: info.name))
    }
    for (what, now, before) in [
      ("entries", info.declared.limits.entries, old?.info.declared.limits.entries),
      ("bytes", info.declared.limits.bytes, old?.info.declared.limits.bytes),
    ] {
      guard old != nil, let now, now < before ?? .max else { continue }
      add(
        "limit_lowered", .notice,
        "code declared \(now) \(what) in place of \(before.map(String.init) ?? "any number") (rules of version \(info.declared.version))"
      )
    }
    if let count = rise(reads.damaged, old?.reads.damaged) {
      add("damaged", .error, "\(count) reads met a damaged entry: run `larder STORE verify`")
    }
    if let count = rise(reads.undecodable, old?.reads.undecodable) {
      add("undecodable", .warning, "the codec could not decode the values of \(count) reads")
    }
    if let count = rise(removals.evicted, old?.removals.evicted) {
      add("evicting", .notice, "\(count) entries were evicted for a limit")
    }
    return events
  }
}
