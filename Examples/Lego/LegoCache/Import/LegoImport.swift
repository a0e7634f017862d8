import Larder

/// Makes a cache contain what a source contains, and reports the changes.
///
/// The encoded entity is compared with the stored one. An equal entity is not written while at least half of its lifetime
/// is left; otherwise its lifetime restarts. An import does not remove fields that only the API provides, such as prints or
/// the numbers of other systems. Entities that the source no longer has are removed after the kind was read to its end,
/// if they were stored when the import of that kind began. Expired entities count as absent.
///
/// Entities are written in batches, each in one transaction. If the source or the store fails, the batches before it stay, and
/// nothing of that kind is removed; the report says how far the import came. The next import completes it.
public struct LegoImport: Sendable {
  public let cache: LegoCache
  /// The number of entities in a transaction.
  public var batch = 2000

  public init(into cache: LegoCache) { self.cache = cache }

  /// How far an import is.
  public struct Progress: Sendable {
    public var kind: EntityKind
    /// Entities of this kind that were compared.
    public var done: Int
  }

  /// An import that stopped early.
  public struct Stopped: Error {
    public var report: ImportReport
    /// A ``DumpError`` or `LarderError`, or what `progress` threw.
    public var reason: any Error
  }

  /// Imports `kinds` of `source`. All keys of a kind stay in memory, and one batch of entities.
  ///
  /// Throws ``Stopped``.
  public func run(
    _ source: some EntitySource, kinds: [EntityKind] = EntityKind.allCases,
    progress: @escaping (Progress) throws -> Void = { _ in }
  ) throws -> ImportReport {
    let present = Set(source.kinds)
    var report = ImportReport()
    var reason: (any Error)?
    for kind in EntityKind.allCases where kinds.contains(kind) {
      if reason != nil {
        report.omissions[kind] = .notBegun
      } else if !present.contains(kind) {
        report.omissions[kind] = .absent
      } else if let rules = cache.plan.rules(of: kind) {
        do {
          try load(kind.type, rules, source, &report, progress)
        } catch {
          reason = error
        }
      } else {
        report.omissions[kind] = .off
      }
    }
    if let reason { throw Stopped(report: report, reason: reason) }
    return report
  }

  private func load<Entity: LegoEntity>(
    _ type: Entity.Type, _ rules: Rules, _ source: some EntitySource,
    _ report: inout ImportReport, _ progress: @escaping (Progress) throws -> Void
  ) throws {
    let codec = JSONCodec<Entity>()
    var load: KindImport?
    var keys: Set<Key> = []
    var repeated = SkippedRows()
    do {
      var job = try KindImport(Entity.kind, into: cache, rules: rules, batch: batch)
      job.merge = { stored, new in
        guard let known = Self.decoded(stored, codec) else { return new }
        var entity = try codec.decode(new.span)
        entity.fill(from: known)
        return entity == known ? nil : try codec.encode(entity)
      }
      load = job
      let skipped = try source.read(type) { entity in
        guard keys.insert(Key(entity.key)).inserted else {
          repeated.add("\(Entity.kind.word): a second row of \(entity.key)")
          return
        }
        if try load?.add(entity.key, try codec.encode(entity)) == true {
          try progress(Progress(kind: Entity.kind, done: load?.tally.read ?? 0))
        }
      }
      if skipped.count + repeated.count > 0 {
        report.skipped[Entity.kind] = skipped + repeated
      }
      try load?.finish()
      report.tallies[Entity.kind] = load?.tally
      try progress(Progress(kind: Entity.kind, done: load?.tally.read ?? 0))
    } catch {
      report.tallies[Entity.kind] = load?.tally
      report.failure = ImportReport.Failure(
        kind: Entity.kind, imported: load?.tally.read ?? 0, reason: "\(error)")
      throw error
    }
  }

  /// Nil for an entity of which the stored bytes are not valid: the import replaces it.
  private static func decoded<Entity: LegoEntity>(
    _ bytes: [UInt8], _ codec: JSONCodec<Entity>
  ) -> Entity? {
    do {
      return try codec.decode(bytes.span)
    } catch {
      return nil
    }
  }
}
