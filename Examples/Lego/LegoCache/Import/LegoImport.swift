import Larder
import Service

/// Makes a cache contain what a dump contains, and reports the changes.
///
/// An entity is not written while the stored one is equal and at least half of its lifetime is left; otherwise its lifetime
/// restarts. A field that the dump has a column for is the dump's, also if it is empty. Fields that it has none for stay, such
/// as prints or the numbers of other systems; but not those of an element that is now of another part or color.
/// Entities that the dump no longer has are removed after all others were stored, if they were stored when the import of
/// that kind began. Expired entities count as absent, but the fields of stale ones stay in the same way.
///
/// Rows that cannot be read are skipped and listed, and nothing of their kind is removed. A table is read to its end first, so
/// one that is damaged as a whole leaves its kind as it was. The report says how far the import came; the next import
/// completes it.
public struct LegoImport: Sendable {
  public let cache: LegoCache
  /// The number of entities in a transaction.
  public var batch = 1000

  public init(into cache: LegoCache) { self.cache = cache }

  /// How far an import or a refresh is.
  public struct Progress: Sendable {
    public var kind: EntityKind
    /// Entities of this kind that were compared.
    public var done: Int
    public var total: Int
  }

  /// An import or a refresh that stopped early.
  public struct Stopped: Error {
    public var report: ImportReport
    /// A ``DumpError``, `ServiceError` or `LarderError`, or what `progress` threw.
    public var reason: any Error
  }

  /// Imports `kinds` of a dump. All entities of a kind are in memory meanwhile.
  ///
  /// Throws ``Stopped``; or, before it changes anything, `LarderError` of the code `busy` if another import into the store
  /// runs, or a refresh.
  public func run(
    _ dump: RebrickableDump, kinds: [EntityKind] = EntityKind.allCases,
    progress: (Progress) throws -> Void = { _ in }
  ) throws -> ImportReport {
    // Two imports at once, or an import and a refresh, would leave a mix of two sources.
    let lock = try StoreLock(of: cache.larder, beside: "another import or a refresh")
    defer { withExtendedLifetime(lock) {} }
    let present = Set(dump.kinds)
    var report = ImportReport()
    var reason: (any Error)?
    for kind in EntityKind.allCases where kinds.contains(kind) {
      if !present.contains(kind) {
        report.omissions[kind] = .absent
      } else if cache.plan.rules(of: kind) == nil {
        report.omissions[kind] = .off
      } else if reason != nil {
        report.omissions[kind] = .notBegun
      } else {
        do {
          report += try load(kind.type, of: dump, progress)
        } catch {
          report += error.report
          reason = error.reason
        }
      }
    }
    if let reason { throw Stopped(report: report, reason: reason) }
    return report
  }

  private func load<Entity: LegoEntity>(
    _ type: Entity.Type, of dump: RebrickableDump, _ progress: (Progress) throws -> Void
  ) throws(Stopped) -> ImportReport {
    let kind = Entity.kind
    var skipped = SkippedRows()
    var writer: EntityWriter<Entity>?
    do {
      var keys: Set<Key> = []
      let rows = try dump.rows(of: type, &skipped).filter { row in
        let isNew = keys.insert(Key(row.entity.key)).inserted
        if !isNew { skipped.add("\(row.place): a second row of \(row.entity.key)") }
        return isNew
      }
      writer = try EntityWriter(into: cache, from: .dump, isWhole: true, batch: batch)
      try writer?.write(rows) { done in
        try progress(Progress(kind: kind, done: done, total: rows.count))
      }
      // If all rows were skipped, another table is damaged.
      if !rows.isEmpty, !skipped.areUnreadable { try writer?.removeOthers() }
      return ImportReport(of: kind, writer?.tally, skipped)
    } catch {
      throw Stopped(
        report: ImportReport(of: kind, writer?.tally, skipped, stoppedBy: error), reason: error)
    }
  }
}
