import LMDB
import LarderSystem

/// The result of ``Store/salvage(from:to:options:)``: the saved entries and the damage.
public struct Salvage: Sendable, Hashable {
  /// The number of entries in the new store.
  public var entries = 0
  /// Bytes of the entries' values.
  public var bytes = 0
  /// The number of namespaces in the new store.
  public var namespaces = 0
  /// Entries that are not whole: a wrong checksum, a missing part of the value, or an impossible attribute.
  public var damagedEntries = 0
  /// Entries that were not copied: expired, with an invalidated tag, of a cleared namespace, or changed by transforms.
  public var leftOut = 0
  /// The number of ``entries`` that were found on pages without a reference.
  public var found = 0
  /// The damage: a line with the page number for each damaged page of the old file, and lines about its write buffer. Entries
  /// on these pages, or in the write buffer, may be lost.
  public var damage: [String] = []

  /// Whether no damage was found in the old store.
  public var isComplete: Bool { damage.isEmpty && damagedEntries == 0 }
}

extension Store {
  /// Copies every readable entry of the damaged store at `path` to a new store at `destination`, which must not exist. The old
  /// data file does not change.
  ///
  /// Entries keep their bytes, times, tags, owners and other attributes; namespaces keep their rules, and the store its limits
  /// and its durability unless `options` sets others. Entries that killed processes have left in the write buffer are saved if
  /// the old store can be opened. Only an entry with a correct checksum is saved, so no value is wrong. The old store need not be
  /// openable; no process can write to it meanwhile. O(size of the file).
  ///
  /// The new store is made as `.NAME.unfinished` beside `destination` and renamed when it is complete. So a killed process
  /// leaves nothing at `destination`. The next call removes the unfinished files.
  ///
  /// Throws ``LarderError/Code/busy`` while another process writes, or makes a store at `destination`;
  /// ``LarderError/Code/exists`` if a file is at `destination`, or a file of another kind has the unfinished name; and the
  /// errors of making and writing a store.
  public static func salvage(
    from path: String, to destination: String, options: Options = Options()
  ) throws(LarderError) -> Salvage {
    try salvage(from: path, to: destination, options: options) { _ in true }!
  }

  /// Like ``salvage(from:to:options:)``; nil, and no store is made, if `shouldContinue` returns false for a number of looks.
  package static func salvage(
    from path: String, to destination: String, options: Options,
    while shouldContinue: @escaping (_ looks: Int) -> Bool
  ) throws(LarderError) -> Salvage? {
    var pace = SalvagePace(shouldContinue: shouldContinue)
    do {
      let records = Swift.Result { () throws(LarderError) in
        try SalvagedRecords(at: path, options)
      }
      return try SalvageFile.hold(path, lockTimeout: options.lockTimeout.bounded) {
        let file = try SalvageFile(at: path)
        var options = options
        options.create = true
        options.readOnly = false
        options.durability = try options.durability ?? Durability(DurabilityLevel(of: file))
        return try Store.making(at: destination, options) {
          try $0.fill(from: file, records, &pace)
        }
      }
    } catch is SalvagePace.Stopped {
      return nil
    } catch let error as LarderError {
      throw error
    } catch let error as OpenError {
      throw LarderError(error)
    } catch let error as LMDBError {
      throw LarderError(error, path: path)
    } catch {
      throw LarderError(.failed, "\(path) could not be salvaged: \(error)")
    }
  }

  /// Makes a store at the free path `path`: under another name until all is flushed, so no failure leaves a part of the store.
  package static func making<Result>(
    at path: String, _ options: Options, _ fill: (Store) throws -> Result
  ) throws -> Result {
    let unfinished: UnfinishedStore
    do throws(OpenError) { unfinished = try UnfinishedStore(for: path) } catch {
      throw LarderError(error)
    }
    do {
      let store = try Store(at: unfinished.path, options: options)
      let result: Result
      do {
        result = try fill(store)
        try store.sync()
        try store.close()
      } catch {
        // The files are removed next, so an error of closing does not matter.
        _ = Swift.Result { try store.close() }
        throw error
      }
      try unfinished.finish()
      return result
    } catch {
      unfinished.remove()
      let error = (error as? OpenError).map(LarderError.init) ?? error
      guard let error = error as? LarderError, error.code == .full else { throw error }
      throw LarderError(
        error.code, "a store cannot be made at \(path): \(error.message)",
        hint: "free space on the disk; nothing of the new store was left")
    }
  }

  private func fill(
    from file: borrowing SalvageFile, _ records: Swift.Result<SalvagedRecords?, LarderError>,
    _ pace: inout SalvagePace
  ) throws -> Salvage {
    let metadata = try SalvageMetadata(file)
    // Limits and rules come last: they may be stricter than at the time when the entries were written.
    try LimitChange(engine).changeSettings { $0.overrides.disk = Limits.unlimited }
    for (name, _) in metadata.namespaces {
      try declare(Rules(largestValue: Rules.largestPossibleValue), for: name)
    }
    var writer = SalvageWriter(store: self, metadata: metadata)
    switch records {
    // After a later commit, the file contains the records.
    case .success(let records?) where records.commit == file.newestCommit:
      try writer.add(records.contents, from: file)
    case .success: break
    case .failure(let error):
      writer.result.damage.append("the write buffer was not read: \(error.message)")
    }
    let walk = try file.forEachRecord(in: Indexes.names[0]) { key, value in
      try pace.look()
      if !(try writer.add(key, value, from: file)) { writer.result.damagedEntries += 1 }
    }
    let before = writer.result.entries
    // A record that is no entry here belongs to an index.
    let others = Array(Indexes.names[1...])
    func pause() throws { try pace.look() }
    try file.forEachLostRecord(besides: walk, databases: others, pause: pause) { key, value in
      _ = try writer.add(key, value, from: file)
    }
    try writer.flush()
    for (name, record) in metadata.namespaces {
      try declare(record.rules.declared, for: name)
      try override(record.rules.overrides, for: name)
    }
    try takeLimits(metadata.settings, size: file.size)
    writer.result.found = writer.result.entries - before
    writer.result.namespaces = try namespaces().count
    writer.result.damage += walk.damage.map(\.description)
    return writer.result
  }

  /// Gives the new store the limits of the old store. If they are lost, the disk limit is at least twice the old file's size.
  private func takeLimits(_ settings: StoreSettings?, size: Int) throws(LarderError) {
    try LimitChange(engine).changeSettings { current in
      if var settings {
        if current.declared != StoreLimits() { settings.declared = current.declared }
        current = settings
      } else {
        current.overrides.disk = nil
        current.defaultDisk = current.defaultDisk.map { max($0, 2 * size) }
      }
    }
  }
}

private struct SalvagePace {
  struct Stopped: Error {}

  let shouldContinue: (_ looks: Int) -> Bool
  var looks = 0

  /// Counts a record or a page. After each hundred it calls `shouldContinue`, and throws if the answer is false.
  mutating func look() throws(Stopped) {
    looks += 1
    if looks % 100 == 0, !shouldContinue(looks) { throw Stopped() }
  }
}

struct SalvageMetadata {
  private(set) var settings: StoreSettings?
  private(set) var namespaces: [(name: String, record: NamespaceRecord)] = []
  private var names: [NamespaceID: String] = [:]
  private var garbage: Set<NamespaceID> = []
  private var tombstones: [Tombstone] = []
  /// Opens the store's own records; nil if the record with the store's identity is lost.
  private var seal: RecordSeal?

  init(_ file: borrowing SalvageFile) throws {
    let formatKey = MetadataKey.format
    _ = try file.forEachRecord { key, value in
      guard key.elementsEqual(formatKey.span) else { return }
      if case .format(let format) = StoreFormat.read(value) {
        seal = RecordSeal(identity: format.identity)
      }
    }
    let settingsKey = MetadataKey.settings
    let prefixes = (
      namespaces: MetadataKey.namespaces, garbage: MetadataKey.garbage,
      tombstones: MetadataKey.tombstones
    )
    _ = try file.forEachRecord { key, value in
      if key.starts(with: prefixes.namespaces.span) {
        addNamespace(key.extracting(prefixes.namespaces.count..<key.count).copied, value)
      } else if key.starts(with: prefixes.garbage.span) {
        if let id = MetadataKey.id(of: key) { garbage.insert(id) }
      } else if key.starts(with: prefixes.tombstones.span) {
        tombstones.append(seal.flatMap { Tombstone(value, at: key, seal: $0) } ?? .damaged)
      } else if key.elementsEqual(settingsKey.span), let seal,
        let found = try? StoreSettings(value, seal: seal)
      {
        settings = found
      }
    }
  }

  /// Adds a namespace if its record is readable. Otherwise ``name(of:)`` makes a name from the id of the namespace.
  private mutating func addNamespace(_ name: [UInt8], _ value: Span<UInt8>) {
    let name = String(decoding: name, as: UTF8.self)
    guard let seal, let record = try? NamespaceRecord(value, name: name, seal: seal),
      names.updateValue(name, forKey: record.id) == nil
    else { return }
    namespaces.append((name, record))
  }

  /// The name of the namespace with that id; nil if it was cleared. A namespace with a lost record gets a new name.
  func name(of id: NamespaceID) -> String? {
    if garbage.contains(id) { return nil }
    return names[id] ?? "salvaged-\(id.rawValue)"
  }

  /// Whether a tag of the entry was invalidated after the entry was written.
  func isHidden(_ entry: StoredEntry) -> Bool {
    guard entry.header.flags.contains(.tagged), !tombstones.isEmpty else { return false }
    let tags = entry.fields.tags
    return tombstones.contains { $0.hides(entry.id, version: entry.header.version, tags: tags) }
  }
}
