import Larder
import ShellLanguage

/// The names of fields that values of a namespace have, for Tab: read from a few values and kept while the prompt lives.
struct FieldSample {
  private static let mostValues = 200
  private static let mostTime = Duration.milliseconds(50)
  private static let largestValue = 100_000

  private var known: [String: [[UInt8]]] = [:]

  /// The fields of objects, and of the objects in them as `a.b`, in order.
  mutating func fields(of namespaces: [Store.Namespace]) throws -> [[UInt8]] {
    var names: Set<String> = []
    let end = ContinuousClock.now + Self.mostTime
    for namespace in namespaces {
      if let fields = known[namespace.name] {
        names.formUnion(fields.map { String(decoding: $0, as: UTF8.self) })
        continue
      }
      var own: Set<String> = []
      var values = 0
      try namespace.scanReadable { _, value in
        if value.count <= Self.largestValue {
          values += 1
          own.formUnion(JSONFields.names(of: value.bytes))
        }
        return values < Self.mostValues && ContinuousClock.now < end
      }
      known[namespace.name] = own.sorted().map { Array($0.utf8) }
      names.formUnion(own)
    }
    return names.sorted().map { Array($0.utf8) }
  }
}
