import LMDB
import LarderSystem
import Synchronization

/// Finds and checks the entries of a store, in the caller's snapshot. A read changes nothing in the store. Each read leaves its
/// changes in ``leftovers`` for the next commit, and records its access in the shared access table.
final class EntryReader: Sendable {
  let environment: Environment
  let indexes: Indexes
  /// 16 random bytes of the store; no other store has the same bytes.
  let identity: [UInt8]
  let metadata: MetadataReader
  let clock: StoreClock
  let transforms: TransformPipeline
  let access: AccessTable
  /// The changes that reads leave for the next commit of this process: accesses that postpone the expiry of entries with a time
  /// to idle, and the removals of expired entries that reads have found.
  let leftovers: (accesses: PendingAccesses, expirations: PendingExpirations)
  /// The size of a chunk: a page without LMDB's header, so each chunk fits into one page.
  let chunkSize: Int
  let tombstones = KnownTombstones()
  let buffer: WriteBuffer?
  let verified = VerifiedValues()
  /// The last value with transforms that was read in pieces.
  let piecewise = Mutex<(mark: UInt64, value: [UInt8])?>(nil)
  let transformStorage = NamespaceHandle(name: TransformContext.storage, listedIn: CountedHandles())

  init(
    of environment: Environment, format: StoreFormat, options: Store.Options
  ) throws(LarderError) {
    self.environment = environment
    indexes = Indexes(environment.databases)
    identity = format.identity
    metadata = MetadataReader(environment: environment, seal: RecordSeal(identity: format.identity))
    clock = StoreClock(options.clock)
    transforms = TransformPipeline(options.transforms)
    access = AccessTable(of: environment, store: format.identity)
    leftovers = (PendingAccesses(timer: options.hooks.timer), PendingExpirations())
    chunkSize = environment.info.pageSize - 16
    buffer = try WriteBuffer(of: environment, store: format.identity, options)
  }

  var seal: RecordSeal { metadata.seal }

  @inline(__always)
  func beginRead() throws(LarderError) -> ReadTransaction {
    do throws(LMDBError) { return try environment.beginRead() } catch {
      throw environment.larderError(error)
    }
  }

  /// The facts of the entry under `key`, even if the entry has expired; nil if the entry is missing or damaged.
  func entry(
    _ key: Span<UInt8>, of handle: NamespaceHandle, in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Store.Entry? {
    let found = try lookUp(key, of: handle, in: transaction)
    return try entry(found, key: key, of: handle, in: transaction)
  }

  func entry(
    _ found: borrowing Lookup, key: Span<UInt8>, of handle: NamespaceHandle,
    in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> Store.Entry? {
    switch found.outcome {
    case .absent, .damaged: return nil
    case .expired where !isIntact(found.header, record: found.record, keyHash: found.keyHash):
      return nil
    case .fresh, .stale, .negative, .expired: break
    }
    let entryKey = StoredKey.entry(key, in: found.id)
    guard let entry = StoredEntry(entryKey: entryKey, record: found.record) else { return nil }
    var names: [NamespaceID: String] = [:]
    return facts(
      of: entry, key: Key(key.copied), namespace: handle.name,
      owners: try owners(of: entry, &names, in: transaction))
  }

  /// The owners of an entry. Fills empty `names` with the names of the snapshot's namespaces: O(namespaces).
  func owners(
    of entry: StoredEntry, _ names: inout [NamespaceID: String],
    in transaction: borrowing ReadTransaction
  ) throws(LarderError) -> [Owner] {
    let owners = entry.owners
    if owners.isEmpty { return [] }
    for (name, bytes) in names.isEmpty ? try metadata.namespaceRecords(in: transaction) : [] {
      if let id = NamespaceRecord.id(bytes.span, name: name, seal: seal) { names[id] = name }
    }
    return owners.compactMap { owner in names[owner.id].map { Owner(Key(owner.key), in: $0) } }
  }

  func facts(of entry: StoredEntry, key: Key, namespace: String, owners: [Owner]) -> Store.Entry {
    let idle = entry.header.flags.contains(.idle) ? entry.fields.idle : nil
    let header = leftovers.accesses.current(entry.header, idle: idle, entryKey: entry.entryKey)
    let fields = transforms.readable(
      entry.fields,
      of: TransformContext(key.bytes, in: entry.id, version: header.version, reader: self))
    let steps = entry.fields.transforms?.all ?? []
    let now = clock.now
    let written = Timestamp(milliseconds: header.written)
    let lastUse = access.lastUse(of: Checksum.keyHash(of: key.bytes.span, in: entry.id))
    let lastUsed = lastUse.map { min(max($0, written), now) }
    let tags = entry.fields.tags.map { String(decoding: $0, as: UTF8.self) }
    let expires = header.expires == EntryHeader.never ? nil : header.expires
    let staleUntil = header.staleUntil == header.expires ? nil : header.staleUntil
    return Store.Entry(
      namespace: namespace, key: key, size: steps.first?.size ?? entry.valueCount,
      storedSize: entry.storedCount, valueSize: entry.valueCount, written: written,
      lastUsed: lastUsed, expires: expires.map { Timestamp(milliseconds: $0) },
      staleUntil: staleUntil.map { Timestamp(milliseconds: $0) },
      timeToIdle: idle.map { .milliseconds($0.milliseconds) },
      state: header.state(at: now.milliseconds), codec: CodecID(rawValue: header.codec),
      version: header.version, isPinned: header.flags.contains(.pinned),
      isNegative: header.flags.contains(.negative), owners: owners, tags: tags,
      entityTag: fields[.entityTag], lastModified: fields[.lastModified],
      metadata: fields[.metadata], transforms: steps.map(\.id))
  }
}
