import LMDB
import LarderSystem
import Synchronization

/// The state that all handles of one store in this process share, and the services that work on that state.
final class StoreEngine: Sendable {
  let environment: Environment
  let reader: EntryReader
  let chunksAbove: Int?
  let pageSize: Int
  /// Whether this process has had a handle for writing. If not, closing the store writes no access times, removals or counts.
  let isWritable = Atomic(false)
  let opened: (now: Timestamp, monotonic: Duration)
  /// The minute of the last failure to resize the access table. Resizing is not tried again in the same minute.
  let accessFailure = Atomic<Int64>(.min)
  let writes = Writes()
  let loads: Loads
  let removalTable: RemovalTable
  let memory: MemoryRegistry
  let isTemporary = Atomic(false)
  let changes: ChangeFeed
  let timer: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
  /// The longest time from a buffered write to its commit, and from the commit to its checkpoint. Writes read the milliseconds.
  let checkpointInterval: Duration
  let checkpointMilliseconds: Int64
  /// The machine's time at which the next commit of the write buffer was scheduled; 0 if no commit is scheduled.
  let settlingSince = Atomic<Int64>(0)
  /// Whether the writer thread was asked to commit the records of the write buffer.
  let isSettling = Atomic(false)
  let counted = CountedHandles()
  private let handles: Mutex<NamespaceHandles>

  init(environment: Environment, format: StoreFormat, options: Store.Options) throws(LarderError) {
    self.environment = environment
    handles = Mutex(NamespaceHandles(listedIn: counted))
    reader = try EntryReader(of: environment, format: format, options: options)
    removalTable = RemovalTable(of: environment, store: format.identity)
    let table = LeaseTable(of: environment, store: format.identity)
    let leases = LoadLeases(table: table, machine: options.hooks.machineClock)
    loads = Loads(leases: options.flushes ? leases : nil)
    chunksAbove = options.hooks.chunksAbove
    timer = options.hooks.timer
    checkpointInterval = options.checkpointInterval.bounded
    checkpointMilliseconds = checkpointInterval.truncatedMilliseconds
    memory = MemoryRegistry(pressure: options.trimsMemory ? options.hooks.memoryPressure : nil)
    pageSize = environment.info.pageSize
    opened = (options.clock.now, options.clock.monotonic)
    changes = ChangeFeed(
      ring: ChangeRing(of: environment, store: format.identity, slots: options.hooks.changeSlots),
      machine: options.hooks.machineClock,
      health: { StoreHealth(of: environment, needsWriting: !options.isReadOnly) })
    reader.leftovers.accesses.whenDue { [weak self] in self?.writeDueAccessTimes() }
  }

  // Does not close the environment, which closes with its last reference: another opening may already share the environment.
  deinit {
    // In a forked child, the files belong to the parent, and a lock may be locked for ever.
    if environment.isForked { return }
    // The memory tiers and their budget refer to each other. Without this removal neither would be released.
    memory.budget.remove { _ in true }
    if isTemporary.load(ordering: .relaxed) {
      environment.close()
      removeFiles()
    } else {
      flushLast()
    }
    counted.removeAll()
  }

  /// The handle of a namespace. In a forked child the lock may be locked for ever, so the child gets a handle without locking.
  func handle(for name: String) -> NamespaceHandle {
    if environment.isForked { return NamespaceHandle(name: name, listedIn: counted) }
    return handles.withLock { $0.handle(for: name) }
  }

  var allHandles: [NamespaceHandle] { handles.withLock { Array($0.byName.values) } }

  /// Commits the write buffer, then returns a snapshot, which contains every entry that was written before this call.
  @inline(__always)
  func beginRead() throws(LarderError) -> ReadTransaction {
    guard let buffer = reader.buffer else { return try reader.beginRead() }
    if buffer.hasRecords { try settle() }
    let state = buffer.state
    var transaction = try reader.beginRead()
    if !state.hasRecords { transaction.stamp = state.stamp }
    return transaction
  }

  var indexes: Indexes { reader.indexes }
  var identity: [UInt8] { reader.identity }
  var metadata: MetadataReader { reader.metadata }
  var seal: RecordSeal { reader.metadata.seal }
  var clock: StoreClock { reader.clock }
  var transforms: TransformPipeline { reader.transforms }
  var access: AccessTable { reader.access }
  var leftovers: (accesses: PendingAccesses, expirations: PendingExpirations) { reader.leftovers }

  static func open(at path: String, options: Store.Options) throws(LarderError) -> StoreEngine {
    let count = options.transforms.count
    guard count <= TransformSteps.most, Set(options.transforms.map(\.id)).count == count else {
      throw LarderError(
        .invalidArgument, "a store cannot have these \(count) transforms",
        hint: "use at most \(TransformSteps.most), each with another id")
    }
    let environment = try Environment.open(at: path, options)
    return try environment.attachment.withLock { attachment throws(LarderError) in
      if let engine = attachment.object as? StoreEngine {
        try engine.check(options)
        return engine
      }
      guard attachment.object == nil else {
        throw LarderError(
          .busy, "\(environment.path) is being compacted in this process", hint: "try again later")
      }
      endsWithProcess
      let format = try StoreFormat(of: environment)
      let engine = try StoreEngine(environment: environment, format: format, options: options)
      if engine.reader.buffer?.appends == true, format.version != StoreFormat.buffered {
        let buffered = StoreFormat(version: StoreFormat.buffered, identity: format.identity)
        try engine.commit { batch in
          try batch.session.transaction.put(buffered.encoded, for: MetadataKey.format, in: .main)
        }
      }
      attachment.object = engine
      // Makes the map as large as the disk limit before any read, because a map that reads use cannot be made smaller. If the
      // record of the limits is damaged, the default memory limit and no disk limit apply. The next write reports the damage.
      if let settings = try? engine.metadata.settings(in: engine.reader.beginRead()) {
        engine.memory.budget.limit = settings.memoryLimit ?? .max
        if !options.isReadOnly, let limit = settings.limits.disk { environment.setFileLimit(limit) }
      }
      return engine
    }
  }

  /// Refuses another clock, because handles with two clocks would disagree about expiry. Refuses other transforms, because one
  /// handle could not read the values of another handle.
  private func check(_ options: Store.Options) throws(LarderError) {
    let mine = clock.source as? any AnyObject & LarderClock
    let other = options.clock as? any AnyObject & LarderClock
    let hasSameClock =
      clock.isSystem && options.clock is SystemClock || mine != nil && mine === other
    let hasSameTransforms = transforms.transforms.map(\.id) == options.transforms.map(\.id)
    if hasSameClock, hasSameTransforms { return }
    let (found, same) =
      hasSameClock ? ("other transforms", "transforms") : ("another clock", "object as the clock")
    throw LarderError(
      .invalidArgument, "\(environment.path) is already open in this process with \(found)",
      hint: "open it once and share it, or pass the same \(same)")
  }
}
