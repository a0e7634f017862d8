import Larder
import LarderSystem
import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The state that an import would leave, for `--dry-run`. It refuses the lines that the import would refuse, but for a lack of
/// room: what a limit would evict, and what is left on the disk, only the writes themselves show.
struct ImportPreview {
  /// The entry that is under a key.
  struct Present {
    let written: Timestamp
    let size: Int
  }

  private struct Place {
    var plan: NamespacePlan
    /// Whether an earlier line has stored an entry.
    var hasSeen = false
  }

  /// Bytes of a key that is kept as it is. Such keys come sorted and change few pages; digests change a page each.
  private static let longestKept = 256

  private static let prefix = "larder-import-"
  private static var folder: String { FileManager.default.temporaryDirectory.path }

  /// Removes the files of previews that were killed.
  static func removeLeftovers() {
    TemporaryLeftovers.remove(beginningWith: prefix, in: folder)
  }

  private let session: Session
  /// The keys of earlier lines, in a file of their own: a key may come again after any number of others. A digest stands for a
  /// long key, so that the file stays small.
  let seen: Store
  private var places: [ExactString: Place] = [:]

  init(of session: Session) throws {
    self.session = session
    do throws(LarderError) {
      seen = try Store.temporary(in: Self.folder, prefix: Self.prefix)
    } catch {
      let folder = Self.folder
      let reason = LocalFile.exists(folder) ? error.message : "it does not exist"
      throw ShellError(
        error.code == .full ? .full : .io,
        "cannot create a temporary store in \(Array(folder.utf8)): \(reason)",
        hint: error.code == .full
          ? "free space there, or set TMPDIR to a directory with room"
          : "set TMPDIR to a directory that can be written")
    }
  }

  /// An existing namespace keeps its rules.
  ///
  /// - Returns: whether it is a new one.
  mutating func declare(
    _ name: String, _ rules: Rules, _ overrides: Rules.Overrides?
  ) throws -> Bool {
    var place = try place(name)
    guard place.plan.isNew else { return false }
    try place.plan.declare(rules, overrides)
    places[ExactString(name)] = place
    return true
  }

  /// - Parameter batch: a write of ``seen``.
  func present(_ entry: ImportedEntry, _ batch: inout WriteBatch) throws -> Present? {
    if places[ExactString(entry.namespace)]?.hasSeen == true,
      let facts = try batch.value(for: mark(of: entry.key), in: seen.namespace(entry.namespace))
    {
      return Present(facts)
    }
    let namespace = session.store.namespace(entry.namespace)
    guard let present = try namespace.entry(for: entry.key), present.state != .expired else {
      return nil
    }
    return Present(written: present.written, size: present.size)
  }

  /// - Parameters:
  ///   - time: When a line without a time was written.
  ///   - batch: a write of ``seen``.
  mutating func store(
    _ entry: ImportedEntry, over present: Present?, at time: Timestamp, _ batch: inout WriteBatch
  ) throws {
    var place = try place(entry.namespace)
    try place.plan.set(
      entry.value.count, for: entry.key, entry.attributes, replacing: present?.size)
    place.hasSeen = true
    places[ExactString(entry.namespace)] = place
    let facts = Present(
      written: min(entry.attributes.written ?? time, time), size: entry.value.count)
    try batch.set(facts.bytes, for: mark(of: entry.key), in: seen.namespace(entry.namespace))
  }

  /// Stands for a key in ``seen``: the key itself, or a digest of 128 bits with a secret of this process.
  private func mark(of key: [UInt8]) -> [UInt8] {
    guard key.count > Self.longestKept else { return [0] + key }
    var mark: [UInt8] = [1]
    let digest = SeenKeys.Digest(key)
    for part in [digest.first, digest.second] {
      mark.append(bigEndian: UInt64(UInt(bitPattern: part)))
    }
    return mark
  }

  private func place(_ name: String) throws -> Place {
    if let known = places[ExactString(name)] { return known }
    return Place(plan: try NamespacePlan(session.store.namespace(name)))
  }
}

extension ImportPreview.Present {
  /// As ``bytes`` has it.
  fileprivate init?(_ bytes: [UInt8]) {
    let numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    guard numbers.count == 2, let written = Int64(numbers[0]), let size = Int(numbers[1]) else {
      return nil
    }
    self.init(written: Timestamp(milliseconds: written), size: size)
  }

  fileprivate var bytes: [UInt8] { Array("\(written.milliseconds) \(size)".utf8) }
}
