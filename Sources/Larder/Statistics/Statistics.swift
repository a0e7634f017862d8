import LMDB

/// How a store stands: what it holds, what its reads met, why entries went, and the file behind it.
public struct Statistics: Sendable {
  public struct Namespace: Sendable {
    public var facts: NamespaceFacts
    /// Of all processes; what other processes have not written yet is missing.
    public var reads: ReadCounters
    public var removals: RemovalCounters
    /// The decoded values in the memory of this process; nil if it keeps none of the namespace.
    public var memory: MemoryStatistics?
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
  public var namespaces: [Namespace]
  /// Totals of all namespaces.
  public var entries: Int
  public var bytes: Int
  public var stored: Int
  public var file: File
  public var readers: [Reader]

  /// What the reads of all namespaces met.
  public var reads: ReadCounters { namespaces.reduce(ReadCounters()) { $0 + $1.reads } }
}

extension Store {
  /// How the store stands. Looking changes nothing it counts; removals this process's reads asked for are carried out
  /// first. O(namespaces), and the length of the list of free pages.
  public func statistics() throws(LarderError) -> Statistics {
    try core.settle(self)
    let transaction = try core.beginRead()
    let listed = try core.namespaces(in: transaction)
    var pending: [String: ReadCounters] = [:]
    for handle in core.allHandles { pending[handle.name] = handle.unmerged() }
    let memory = core.memory.statistics
    let namespaces = listed.map { namespace in
      Statistics.Namespace(
        facts: namespace.facts,
        reads: namespace.counters.reads + (pending[namespace.facts.name] ?? ReadCounters()),
        removals: namespace.counters.removals, memory: memory[namespace.facts.name])
    }
    do throws(LMDBError) {
      let state = try transaction.state()
      let info = core.environment.info
      let newest = transaction.id
      return Statistics(
        path: path, format: Int(StoreFormat.current), namespaces: namespaces,
        entries: Int(clamping: state.entries), bytes: Int(clamping: state.bytes),
        stored: Int(clamping: state.stored),
        file: Statistics.File(
          size: core.environment.fileSize, pageSize: info.pageSize, pages: info.pages,
          freePages: try transaction.freePages(), transaction: newest),
        readers: try core.environment.readersNow().map { reader in
          Statistics.Reader(
            process: reader.process, age: reader.transaction.map { newest &- min($0, newest) })
        })
    } catch {
      throw core.error(error)
    }
  }
}
