import Larder
import ShellLanguage

/// Something that is not as it must be.
struct Inconsistency {
  /// The library's kinds, and `undecodable` for a value that is not what its codec says.
  let kind: String
  let namespace: String?
  let key: [UInt8]?
  let detail: String

  init(_ fault: Verification.Inconsistency) {
    kind = fault.kind.rawValue
    namespace = fault.namespace
    key = fault.key?.bytes
    detail = fault.detail
  }

  private init(_ entry: Store.Entry, _ detail: String) {
    kind = "undecodable"
    namespace = entry.namespace
    key = entry.key.bytes
    self.detail = detail
  }

  /// Reads every value of the store as what its codec says it is.
  static func undecodable(in session: Session) throws -> [Inconsistency] {
    let namespaces = try session.store.namespaces()
    let all = namespaces.reduce(0) { $0 + $1.entries }
    var faults: [Inconsistency] = []
    try session.withProgress("decoding", of: all) { progress in
      for facts in namespaces {
        try session.store.namespace(facts.name).scan { entry, value in
          try session.host.checkInterruption()
          if let detail = DecodedValue.flaw(of: value, codec: entry.codec) {
            faults.append(Inconsistency(entry, detail))
          }
          try progress.advance(by: 1)
          return true
        }
      }
    }
    return faults
  }
}
