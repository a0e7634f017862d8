import LMDB
import LarderSystem

/// Figures of a store: its size, its reads, its removals and its file.
public struct Statistics: Sendable {
  /// Figures of one namespace.
  public struct Namespace: Sendable {
    /// The name, size and rules of the namespace.
    public var info: NamespaceInfo
    /// The time at which the namespace's counts began: its creation, or the last reset of its statistics.
    public var since: Timestamp
    /// The transaction in which the namespace's counts began.
    package var epoch: UInt64
    /// Reads by all processes. Reads of another process are included after that process has committed, has closed or released
    /// the store, or has run ``Maintenance``.
    public var reads: ReadCounters
    /// Removals by reason.
    public var removals: RemovalCounters
    /// The use of the namespace's limits.
    public var usage: Usage
    /// The decoded values in the memory of this process; nil if this process keeps no values of the namespace.
    public var memory: MemoryStatistics?

    /// The use of a namespace's limits.
    public struct Usage: Sendable, Hashable {
      /// The number of entries, including expired entries that are not removed yet.
      public var entries: Tier
      /// The total size of the values in bytes.
      public var bytes: Tier
    }
  }

  /// The use of a resource that may have a limit.
  public struct Tier: Sendable, Hashable {
    /// The amount in use.
    public var used: Int
    /// The largest amount that is allowed; nil if unlimited.
    public var limit: Int?

    /// The fraction of the limit that is used, 1 when full; nil if no limit exists or the limit is 0.
    public var utilization: Double? { limit.flatMap { $0 > 0 ? Double(used) / Double($0) : nil } }
  }

  /// The use of the store's limits.
  public struct Usage: Sendable, Hashable {
    /// The number of entries, including expired entries that are not removed yet.
    public var entries: Tier
    /// The total size of the values in bytes.
    public var bytes: Tier
    /// The size of the data file in bytes.
    public var disk: Tier
    /// The cost of the decoded values in the memory of this process.
    public var memory: Tier
  }

  /// The data file.
  public struct File: Sendable, Hashable {
    /// The size of the data file in bytes.
    public var size: Int
    /// The size of a page in bytes.
    public var pageSize: Int
    /// The number of pages that the file has ever used.
    public var pages: Int
    /// The number of ``pages`` that writes can use again when no snapshot or checkpoint needs their old content.
    public var freePages: Int
    /// The number of the newest commit.
    public var transaction: UInt64
  }

  /// The write buffer.
  public struct WriteBuffer: Sendable, Hashable {
    /// The size in bytes of the entries that were in the buffer before this call, including older versions of the same keys.
    public var size: Tier
    /// How often this process has committed entries from the buffer.
    public var commits: Int
    /// How often the buffer refused a single write of this process: the buffer was full, a limit was near, or a batch was running.
    /// A refused write may try again, so the write may count several times. Writes with tags, long keys or large values do not
    /// count.
    public var bypasses: Int
    /// The number of entries in the buffer that this process could not commit because a page of the data file is damaged.
    public var lost: Int
  }

  /// A reader slot of the store.
  public struct Reader: Sendable, Hashable {
    /// The process that owns the slot.
    public var process: Int
    /// The number of commits after the slot's snapshot. Pages freed by these commits cannot be reused. Nil for an unused slot.
    public var age: UInt64?
  }

  /// The store's directory.
  public var path: String
  /// The version of the file format.
  public var format: Int
  /// The durability level, which is the store's promise about a power failure.
  public var durability: Durability
  /// Every namespace, by name.
  public var namespaces: [Namespace]
  /// The number of entries in all namespaces, including expired entries that are not removed yet.
  public var entries: Int
  /// The total size in bytes of the entries' values.
  public var bytes: Int
  /// The total size in bytes of the entries' headers, metadata and values.
  public var storedSize: Int
  /// The use of the store's limits.
  public var usage: Usage
  /// The data file.
  public var file: File
  /// The readers of all processes.
  public var readers: [Reader]
  /// The write buffer; nil if the store has no write buffer.
  public var writeBuffer: WriteBuffer?

  /// The reads of all namespaces.
  public var reads: ReadCounters { namespaces.reduce(ReadCounters()) { $0 + $1.reads } }
  /// The removals of all namespaces by reason.
  public var removals: RemovalCounters { namespaces.reduce(RemovalCounters()) { $0 + $1.removals } }
  /// The time at which the oldest of these counts began; nil if the store has no namespaces.
  public var since: Timestamp? { namespaces.map(\.since).min() }

  /// The bytes of the pages in use, of those that entries may use. The file itself stays large after the removal of entries.
  package var usedDisk: Tier {
    var tier = usage.disk
    tier.limit = StoreLimits(disk: tier.limit).usableDisk(pageSize: file.pageSize)
    tier.used = min((file.pages - file.freePages) * file.pageSize, tier.limit ?? .max)
    return tier
  }

  /// Lets no count of reads be lower than in `before`, except after a reset. A monitor takes a count that falls for a reset.
  package mutating func keepReads(of before: Statistics) {
    let known = Dictionary(
      before.namespaces.map { (ExactString($0.info.name), $0) }, uniquingKeysWith: { $1 })
    for index in namespaces.indices {
      let present = namespaces[index]
      if let old = known[ExactString(present.info.name)], old.epoch == present.epoch,
        old.info.created == present.info.created
      {
        namespaces[index].reads = present.reads.rising(from: old.reads)
      }
    }
  }
}

extension Store {
  /// The store's figures. Counts no reads. First commits the write buffer, the loaded values and the queued removals of this
  /// process; see ``read(_:)`` for the errors. O(namespaces + pages of the free list).
  public func statistics() throws(LarderError) -> Statistics {
    let buffer = engine.reader.buffer?.statistics
    try engine.flushPending(of: self)
    let transaction = try engine.beginRead()
    let settings = try engine.metadata.settings(in: transaction)
    let format = try StoreFormat(of: engine.environment)
    let memory = engine.memory.statistics
    let namespaces = try engine.metadata.namespaces(in: transaction).map { listed in
      Statistics.Namespace(
        listed, unmerged: engine.handle(for: listed.facts.name), at: transaction.id,
        memory: memory[ExactString(listed.facts.name)])
    }
    return try engine.typed {
      guard let state = try transaction.state(engine.seal) else {
        throw LarderError(
          .damaged, "\(path): the record of the store's state is damaged",
          hint: "write to the store: a write rebuilds the record")
      }
      let (info, size) = (engine.environment.info, engine.environment.fileSize)
      let (limits, newest) = (settings.limits, transaction.id)
      return Statistics(
        path: path, format: Int(format.version), durability: durability, namespaces: namespaces,
        entries: Int(clamping: state.entries), bytes: Int(clamping: state.bytes),
        storedSize: Int(clamping: state.stored),
        usage: Statistics.Usage(
          entries: Statistics.Tier(used: Int(clamping: state.entries), limit: limits.entries),
          bytes: Statistics.Tier(used: Int(clamping: state.bytes), limit: limits.bytes),
          disk: Statistics.Tier(used: size, limit: limits.disk),
          memory: Statistics.Tier(used: engine.memory.budget.used, limit: settings.memoryLimit)),
        file: Statistics.File(
          size: size, pageSize: info.pageSize, pages: info.pages,
          freePages: try transaction.freePages(), transaction: newest),
        readers: try engine.environment.readerTable.readers().map { reader in
          Statistics.Reader(
            process: reader.process, age: reader.transaction.map { newest &- min($0, newest) })
        }, writeBuffer: buffer)
    }
  }

  /// The number of the newest write of any process, found without a read of the store; 0 if the store is closed.
  package var lastCommit: UInt64 { engine.reader.moment }

  /// For each namespace, how many version and position numbers were given so far, and the removals. O(namespaces).
  package func tallies() throws(LarderError) -> [(numbers: UInt64, removals: RemovalCounters)] {
    try engine.metadata.namespaces(in: engine.beginRead()).map {
      ($0.counters.numbersGiven, $0.counters.removals)
    }
  }

  /// Sets the counts of reads and removals of every namespace to zero, for all processes.
  ///
  /// Reads before this call that other processes have not added yet will not count. Concurrent reads may or may not count. Does
  /// not affect entries and limits. O(namespaces).
  public func resetStatistics() throws(LarderError) {
    try checkWritable()
    try engine.commit { batch in
      for name in try batch.session.namespaceNames() { try batch.resetStatistics(of: name) }
    }
  }
}

extension Statistics.Namespace {
  init(
    _ listed: MetadataReader.ListedNamespace, unmerged handle: NamespaceHandle, at moment: UInt64,
    memory: MemoryStatistics?
  ) {
    handle.begin(listed.counters.epoch, seenAt: moment)
    info = listed.facts
    since = Timestamp(milliseconds: Int64(clamping: listed.counters.since))
    epoch = listed.counters.epoch
    reads = listed.counters.reads + handle.unmerged(at: moment)
    removals = listed.counters.removals
    self.memory = memory
    let limits = info.rules.limits
    usage = Usage(
      entries: Statistics.Tier(used: info.entries, limit: limits.entries),
      bytes: Statistics.Tier(used: info.bytes, limit: limits.bytes))
  }
}

extension Store.Namespace {
  /// ``Store/resetStatistics()`` of this namespace. Throws ``LarderError/Code/noSuchNamespace`` for a missing namespace.
  public func resetStatistics() throws(LarderError) {
    try store.checkWritable()
    try engine.commit { batch in
      guard try batch.session.namespace(name) != nil else { throw NamespaceName.absent(name) }
      try batch.resetStatistics(of: name)
    }
  }
}
