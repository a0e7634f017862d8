import LMDB

/// How a store stands: what it holds, what its reads met, why entries went, and the file behind it.
public struct Statistics: Sendable {
  public struct Namespace: Sendable {
    public var info: NamespaceInfo
    /// From when on reads and removals are counted: since the namespace was made, or its statistics were reset.
    public var since: Timestamp
    /// Of all processes. What another process has read and not merged yet is missing: it merges with each of its writes,
    /// when it closes or lets go of the store, and when ``Maintenance`` runs there.
    public var reads: ReadCounters
    public var removals: RemovalCounters
    public var usage: Usage
    /// The decoded values in the memory of this process; nil if it keeps none of the namespace.
    public var memory: MemoryStatistics?

    /// How full a namespace is.
    public struct Usage: Sendable, Hashable {
      public var entries: Tier
      /// Bytes of values.
      public var bytes: Tier
    }
  }

  /// What is used of something that may have a limit.
  public struct Tier: Sendable, Hashable {
    public var used: Int
    /// Nil: as much as there is.
    public var limit: Int?

    /// The used part of the limit, 1 when full; nil without a limit, and for a limit of 0.
    public var utilization: Double? {
      limit.flatMap { $0 > 0 ? Double(used) / Double($0) : nil }
    }
  }

  /// How full the store is as a whole.
  public struct Usage: Sendable, Hashable {
    public var entries: Tier
    /// Bytes of values.
    public var bytes: Tier
    /// Bytes of the data file.
    public var disk: Tier
    /// What decoded values cost in the memory of this process.
    public var memory: Tier
  }

  public struct File: Sendable, Hashable {
    /// Bytes of the data file.
    public var size: Int
    public var pageSize: Int
    /// Pages the file has ever used.
    public var pages: Int
    /// Of these, how many are free for writes to use again.
    public var freePages: Int
    /// The number of the newest commit.
    public var transaction: UInt64
  }

  /// A snapshot somebody reads, or has kept.
  public struct Reader: Sendable, Hashable {
    public var process: Int
    /// How many commits have happened since the snapshot; pages freed in them cannot be used again yet. Nil: idle.
    public var age: UInt64?
  }

  public var path: String
  public var format: Int
  /// What a power cut may cost.
  public var durability: Durability
  public var namespaces: [Namespace]
  /// Totals of all namespaces.
  public var entries: Int
  public var bytes: Int
  public var storedSize: Int
  public var usage: Usage
  public var file: File
  public var readers: [Reader]

  /// What the reads of all namespaces met.
  public var reads: ReadCounters { namespaces.reduce(ReadCounters()) { $0 + $1.reads } }
  /// Why entries of all namespaces went.
  public var removals: RemovalCounters {
    namespaces.reduce(RemovalCounters()) { $0 + $1.removals }
  }
  /// From when on the oldest of these counts are; nil for a store without namespaces.
  public var since: Timestamp? { namespaces.map(\.since).min() }
}

extension Store {
  /// How the store stands. Looking changes nothing it counts; removals this process's reads asked for are carried out
  /// first. O(namespaces), and the length of the list of free pages.
  public func statistics() throws(LarderError) -> Statistics {
    try engine.settle(self)
    let transaction = try engine.beginRead()
    let settings = try engine.settings(in: transaction)
    let memory = engine.memory.statistics
    let namespaces = try engine.namespaces(in: transaction).map { listed in
      Statistics.Namespace(
        listed, unmerged: engine.handle(for: listed.facts.name), at: transaction.id,
        memory: memory[listed.facts.name])
    }
    do throws(LMDBError) {
      let state = try transaction.state()
      let info = engine.environment.info
      let newest = transaction.id
      let size = engine.environment.fileSize
      return Statistics(
        path: path, format: Int(StoreFormat.current), durability: durability,
        namespaces: namespaces,
        entries: Int(clamping: state.entries), bytes: Int(clamping: state.bytes),
        storedSize: Int(clamping: state.stored),
        usage: usage(state, settings.limits, fileSize: size),
        file: Statistics.File(
          size: size, pageSize: info.pageSize, pages: info.pages,
          freePages: try transaction.freePages(), transaction: newest),
        readers: try engine.environment.readersNow().map { reader in
          Statistics.Reader(
            process: reader.process, age: reader.transaction.map { newest &- min($0, newest) })
        })
    } catch {
      throw engine.error(error)
    }
  }

  private func usage(
    _ state: StoreState, _ limits: StoreLimits, fileSize: Int
  ) -> Statistics.Usage {
    Statistics.Usage(
      entries: Statistics.Tier(used: Int(clamping: state.entries), limit: limits.entries),
      bytes: Statistics.Tier(used: Int(clamping: state.bytes), limit: limits.bytes),
      disk: Statistics.Tier(used: fileSize, limit: limits.disk),
      memory: Statistics.Tier(used: engine.memory.budget.used, limit: limits.memory))
  }
}

extension Store {
  /// The number of the newest commit of any process; about 2 ns.
  package var lastCommit: UInt64 { engine.environment.lastTransaction }

  /// How often each namespace was written to since it was made, and what it has lost. O(namespaces).
  package func tallies() throws(LarderError) -> [(writes: UInt64, removals: RemovalCounters)] {
    let transaction = try engine.beginRead()
    return try engine.namespaces(in: transaction).map {
      ($0.counters.writes, $0.counters.removals)
    }
  }
}

extension Statistics.Namespace {
  init(
    _ listed: StoreEngine.ListedNamespace, unmerged handle: NamespaceHandle, at moment: UInt64,
    memory: MemoryStatistics?
  ) {
    handle.begin(listed.counters.epoch, seenAt: moment)
    info = listed.facts
    since = Timestamp(milliseconds: Int64(clamping: listed.counters.since))
    reads = listed.counters.reads + handle.unmerged()
    removals = listed.counters.removals
    self.memory = memory
    let limits = info.rules.limits
    usage = Usage(
      entries: Statistics.Tier(used: info.entries, limit: limits.entries),
      bytes: Statistics.Tier(used: info.bytes, limit: limits.bytes))
  }
}
