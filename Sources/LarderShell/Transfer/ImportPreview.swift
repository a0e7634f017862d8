import Larder

/// The state that an import would leave, for `--dry-run`. It refuses the lines that the import would refuse, but for a lack of
/// room on the disk.
struct ImportPreview {
  /// The entry that is under a key.
  struct Present {
    let written: Timestamp
    let size: Int
  }

  private struct Place {
    var plan: NamespacePlan
    /// The entries of earlier lines.
    var stored: [[UInt8]: Present] = [:]
  }

  private let session: Session
  private var places: [String: Place] = [:]

  init(of session: Session) { self.session = session }

  /// An existing namespace keeps its rules.
  mutating func declare(
    _ name: String, _ rules: Rules, _ overrides: Rules.Overrides?
  ) throws {
    var place = try place(name)
    guard place.plan.isNew else { return }
    try place.plan.declare(rules, overrides)
    places[name] = place
  }

  func present(_ entry: ImportedEntry) throws -> Present? {
    if let earlier = places[entry.namespace]?.stored[entry.key] { return earlier }
    let namespace = session.store.namespace(entry.namespace)
    guard let present = try namespace.entry(for: entry.key), present.state != .expired else {
      return nil
    }
    return Present(written: present.written, size: present.size)
  }

  /// - Parameter time: When a line without a time was written.
  mutating func store(
    _ entry: ImportedEntry, over present: Present?, at time: Timestamp
  ) throws {
    var place = try place(entry.namespace)
    places[entry.namespace] = nil
    try place.plan.set(
      entry.value.count, for: entry.key, entry.attributes, replacing: present?.size)
    place.stored[entry.key] = Present(
      written: min(entry.attributes.written ?? time, time), size: entry.value.count)
    places[entry.namespace] = place
  }

  private func place(_ name: String) throws -> Place {
    if let known = places[name] { return known }
    return Place(plan: try NamespacePlan(session.store.namespace(name)))
  }
}
