import LMDB
import LarderSystem

/// The result of ``Store/salvage(from:to:options:)``: the saved entries and the damage that was found.
public struct Salvage: Sendable, Hashable {
  /// The number of entries in the new store.
  public var entries = 0
  /// The total size in bytes of the saved values.
  public var bytes = 0
  /// The number of namespaces in the new store.
  public var namespaces = 0
  /// The number of damaged entries: the checksum is wrong, a part of the value is missing, or an attribute is invalid.
  public var damagedEntries = 0
  /// The number of entries not copied, because of expiry, a clear of the namespace, an invalidated tag, or transforms.
  public var leftOut = 0
  /// The number of the ``leftOut`` entries that are compressed or encrypted.
  package var transformed = 0
  /// The number of ``entries`` that were found on pages to which no other page refers.
  public var found = 0
  /// The damage: a line with the page number for each damaged page of the old file, and lines about its write buffer, its damaged
  /// records of namespaces, tags and limits, and lost rules and limits. Entries on these pages or in the write buffer may be lost.
  public var damage: [String] = []

  /// Whether ``damage`` is empty and no entry is damaged.
  public var isComplete: Bool { damage.isEmpty && damagedEntries == 0 }
}

extension Store {
  /// Copies every readable entry of the damaged store at `path` to a new store at `destination`. Does not change the old data
  /// file. No file may exist at `destination`.
  ///
  /// Entries keep their bytes, times, tags, owners and other attributes, and namespaces their rules. The store keeps its limits
  /// and its durability, except those that `options` sets. Entries in the write buffer of killed processes are saved if the old
  /// store is not too damaged to open. Only entries with a correct checksum are saved, so no value is wrong. During the call
  /// other processes can write only to the write buffer of the old store, and these writes are not saved. O(size of the file).
  ///
  /// The new store is made as `.NAME.unfinished` beside `destination`, and renamed when it is complete. So if the process is
  /// killed, `destination` stays empty. The next call removes the unfinished files.
  ///
  /// Throws ``LarderError/Code/busy`` if another process writes to the old store, or creates a store at `destination`,
  /// ``LarderError/Code/exists`` if a file is at `destination`, or another kind of file has the unfinished name,
  /// ``LarderError/Code/newerFormat`` or ``LarderError/Code/cannotOpen`` for another format, or errors of the new store.
  public static func salvage(
    from path: String, to destination: String, options: Options = Options()
  ) throws(LarderError) -> Salvage {
    try salvage(from: path, to: destination, options: options) { _ in true }!
  }

  /// Like ``salvage(from:to:options:)``. If `shouldContinue` returns false, makes no store and returns nil.
  package static func salvage(
    from path: String, to destination: String, options: Options,
    while shouldContinue: @escaping (_ looks: Int) -> Bool
  ) throws(LarderError) -> Salvage? {
    struct Stopped: Error {}
    var looks = 0
    func look() throws {
      looks += 1
      if looks % 100 == 0, !shouldContinue(looks) { throw Stopped() }
    }
    do {
      let records = Swift.Result { () throws(LarderError) in try SalvagedRecords(at: path, options)
      }
      return try SalvageFile.hold(path, lockTimeout: options.lockTimeout.bounded) {
        let file = try SalvageFile(at: path)
        var options = options
        options.create = true
        (options.readOnly, options.allowsForeignOwner) = (false, false)
        options.durability = try options.durability ?? Durability(DurabilityLevel(of: file))
        return try Store.making(at: destination, options) {
          try $0.fill(from: file, at: path, records, look)
        }
      }
    } catch is Stopped { return nil } catch {
      throw (error as? LarderError) ?? (error as? OpenError).map { LarderError($0) }
        ?? (error as? LMDBError).map { LarderError($0, path: path) }
        ?? LarderError(.failed, "\(path) could not be salvaged: \(error)")
    }
  }

  /// Creates a store at the free path `path`. The unfinished store has another name, so a failure leaves nothing at `path`.
  package static func making<Result>(
    at path: String, _ options: Options, _ fill: (Store) throws -> Result
  ) throws -> Result {
    let unfinished: UnfinishedStore
    do throws(OpenError) { unfinished = try UnfinishedStore(for: path) } catch {
      throw LarderError(error)
    }
    var store: Store?
    do {
      let made = try Store(at: unfinished.path, options: options)
      store = made
      let result = try fill(made)
      try made.sync()
      try made.close()
      try unfinished.finish()
      return result
    } catch {
      // The files are removed next, so an error of closing has no effect.
      try? store?.close()
      unfinished.remove()
      let error = (error as? OpenError).map(LarderError.init) ?? error
      guard let error = error as? LarderError, error.code == .full else { throw error }
      throw LarderError(
        error.code, "a store cannot be made at \(path): \(error.message)", hint: error.hint)
    }
  }

  private func fill(
    from file: borrowing SalvageFile, at path: String,
    _ records: Swift.Result<SalvagedRecords?, LarderError>, _ look: () throws -> Void
  ) throws -> Salvage {
    let metadata = try SalvageMetadata(file, at: path)
    // The old limits and rules may be too strict for some entries, so the new store gets the limits and rules last.
    try engine.changeSettings { $0.overrides = .unlimited }
    var writer = SalvageWriter(store: self, metadata: metadata)
    switch records {
    case .success(let records):
      for log in records?.contents(after: file.newestCommit) ?? [] {
        try writer.add(log, from: file)
      }
    case .failure(let error):
      writer.result.damage.append("the write buffer was not read: \(error.message)")
    }
    let walk = try file.forEachRecord(in: Indexes.names[0]) { key, value in
      try look()
      if !(try writer.add(key, value, from: file)) { writer.result.damagedEntries += 1 }
    }
    // Writes the waiting entries first, because entries that cannot be stored are then no longer counted.
    try writer.flush()
    let before = writer.result.entries
    // Pages without a reference may belong to an index, so a record that is no entry is not counted as damage.
    let others = Array(Indexes.names[1...])
    try file.forEachLostRecord(besides: walk, databases: others, pause: look) { key, value in
      _ = try writer.add(key, value, from: file)
    }
    try writer.flush()
    // A lost page may have entries from before this position of a shared tier's log. Without the position, all copies end.
    try namespace(Self.tierState).remove(Self.tierProgress)
    // The rules were loose, so that every value had room. A namespace whose record is lost gets the default rules.
    for info in try namespaces() { try declare(Rules(), for: info.name) }
    for (name, record) in metadata.namespaces {
      do throws(LarderError) {
        try engine.changeRules(of: name, mayBeAbsent: true) { $0 = record.rules }
      } catch {
        guard [.invalidArgument, .full].contains(error.code) else { throw error }
        writer.result.damage.append("the rules of namespace \(name): \(error.message)")
      }
    }
    do throws(LarderError) { try takeLimits(metadata.settings, size: file.size) } catch {
      guard [.invalidArgument, .full].contains(error.code) else { throw error }
      let rest = try limits().overrides == .unlimited ? "; the new store has no limits" : ""
      writer.result.damage.append("the limits of the store: \(error.message)\(rest)")
    }
    writer.result.found = writer.result.entries - before
    // The limits of `options` may be lower than the old limits, and have then evicted entries.
    let infos = try namespaces()
    writer.result.entries = infos.reduce(0) { $0 + $1.entries }
    writer.result.bytes = infos.reduce(0) { $0 + $1.bytes }
    writer.result.namespaces = infos.count
    writer.result.damage += walk.damage.map(\.description) + metadata.damage
    return writer.result
  }

  /// Gives the new store the old store's limits. If the limits are lost, the disk limit is at least twice the old file's size.
  private func takeLimits(_ settings: StoreSettings?, size: Int) throws(LarderError) {
    let own = try limits()
    var wanted = settings ?? StoreSettings()
    if settings == nil { wanted.defaultDisk = own.defaultDisk.map { max($0, 2 * size) } }
    if own.declared != StoreLimits() { wanted.declared = own.declared }
    try engine.changeSettings { $0 = wanted }
  }
}

struct SalvageMetadata {
  private(set) var settings: StoreSettings?
  private(set) var namespaces: [(name: String, record: NamespaceRecord)] = []
  private(set) var damage: [String] = []
  /// The first part of the new names of namespaces whose records are lost; no other name begins with this part.
  private var lost = "salvaged-"
  private var names: [NamespaceID: String] = [:]
  private var garbage: Set<NamespaceID> = []
  private var tombstones: [Tombstone] = []
  /// Decodes the store's own records; nil if the record with the store's identity is lost.
  private var seal: RecordSeal?

  /// Throws if the store has another format: this version would take other bytes for the values.
  init(_ file: borrowing SalvageFile, at path: String) throws {
    let (formatKey, settingsKey) = (MetadataKey.format, MetadataKey.settings)
    _ = try file.forEachRecord { key, value in
      if key.elementsEqual(formatKey.span), let format = StoreFormat(value) {
        if format.isIntact(value) { try format.checkReadable(at: path) }
        seal = RecordSeal(identity: format.identity)
      }
    }
    let (namespaces, cleared) = (MetadataKey.namespaces, MetadataKey.garbage)
    let tombstones = MetadataKey.tombstones
    _ = try file.forEachRecord { key, value in
      if key.starts(with: namespaces.span) {
        let bytes = key.extracting(namespaces.count..<key.count).copied
        let name = String(decoding: bytes, as: UTF8.self)
        if let seal, let record = try? NamespaceRecord(value, name: name, seal: seal),
          names.updateValue(name, forKey: record.id) == nil
        {
          self.namespaces.append((name, record))
        } else {
          damage.append("the record of namespace \(name) is damaged")
        }
      } else if key.starts(with: cleared.span) {
        if let id = MetadataKey.id(of: key) { garbage.insert(id) }
      } else if key.starts(with: tombstones.span) {
        let tombstone = seal.flatMap { Tombstone(value, at: key, seal: $0) }
        if tombstone == nil { damage.append("the record of an invalidated tag is damaged") }
        self.tombstones.append(tombstone ?? .damaged)
      } else if key.elementsEqual(settingsKey.span) {
        settings = seal.flatMap { try? StoreSettings(value, seal: $0) }
      }
    }
    if settings == nil { damage.append("the record of the store's limits is damaged") }
    while self.namespaces.contains(where: { $0.name.hasPrefix(lost) }) { lost += "again-" }
  }

  /// The name of the namespace, even if a damaged record lists its id as cleared. If the record of the namespace is lost, returns
  /// nil for a cleared namespace, and otherwise a new name.
  func name(of id: NamespaceID) -> String? {
    names[id] ?? (garbage.contains(id) ? nil : "\(lost)\(id.rawValue)")
  }

  /// Whether a tag of the entry was invalidated after the entry was written.
  func isHidden(_ entry: StoredEntry) -> Bool {
    guard entry.header.flags.contains(.tagged), !tombstones.isEmpty else { return false }
    let tags = entry.fields.tags
    return tombstones.contains { $0.hides(entry.id, version: entry.header.version, tags: tags) }
  }
}
