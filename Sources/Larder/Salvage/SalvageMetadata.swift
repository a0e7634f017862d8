import LMDB
import LarderSystem

/// The readable metadata of a damaged store.
struct SalvageMetadata {
  /// Nil if the record is lost.
  private(set) var settings: StoreSettings?
  private(set) var namespaces: [(name: String, record: NamespaceRecord)] = []
  private var names: [NamespaceID: String] = [:]
  private var garbage: Set<NamespaceID> = []
  private var tombstones: [Tombstone] = []
  /// Opens the store's records; nil if the record with the store's identity is lost.
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
        if key.count == prefixes.garbage.count + 4 {
          garbage.insert(NamespaceID(rawValue: key.bigEndian(at: prefixes.garbage.count)))
        }
      } else if key.starts(with: prefixes.tombstones.span) {
        tombstones.append(seal.flatMap { Tombstone(value, at: key, seal: $0) } ?? .damaged)
      } else if key.elementsEqual(settingsKey.span) {
        readSettings(value)
      }
    }
  }

  private mutating func addNamespace(_ name: [UInt8], _ value: Span<UInt8>) {
    let name = String(decoding: name, as: UTF8.self)
    guard let seal else { return }
    do throws(LarderError) {
      let record = try NamespaceRecord(value, name: name, seal: seal)
      guard names.updateValue(name, forKey: record.id) == nil else { return }
      namespaces.append((name, record))
    } catch {
      // Its entries are saved under a name made of its id.
    }
  }

  private mutating func readSettings(_ record: Span<UInt8>) {
    guard let seal else { return }
    do throws(LarderError) {
      settings = try StoreSettings(record, seal: seal)
    } catch {
      // The new store gets limits of its own.
    }
  }

  /// The namespace that entries with that id belong to; nil if it was cleared. One whose record is lost gets a name.
  func name(of id: NamespaceID) -> String? {
    if garbage.contains(id) { return nil }
    return names[id] ?? "salvaged-\(id.rawValue)"
  }

  /// Whether a tag of the entry was invalidated after it was written.
  func isHidden(_ entry: StoredEntry) -> Bool {
    guard entry.header.flags.contains(.tagged), !tombstones.isEmpty else { return false }
    let tags = entry.fields.tags
    return tombstones.contains { $0.hides(entry.id, version: entry.header.version, tags: tags) }
  }
}
