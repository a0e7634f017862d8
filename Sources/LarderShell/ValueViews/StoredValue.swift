import Larder
import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The ways to show a value.
enum ValueStyle: String, CaseIterable {
  case auto, json, text, hex, base64
}

/// An entry with its value.
struct StoredValue {
  let entry: Store.Entry
  let bytes: [UInt8]

  init(_ key: [UInt8], in namespace: Store.Namespace, of session: Session) throws {
    let found = try namespace.lookUp(key) { entry, value in
      (entry: entry, bytes: value.bytes)
    }
    guard let found else { throw try session.noSuchKey(key, in: namespace) }
    try session.checkValue(of: found.entry)
    entry = found.entry
    bytes = found.bytes
  }

  /// The value for a pipe: its bytes, or a form that was asked for.
  func encoded(as style: ValueStyle, head: Int?) throws(ShellError) -> [UInt8] {
    switch style {
    case .auto, .text: Array(beginning(head))
    case .json: try json(head).minified
    case .hex: Array(HexDump(beginning(head), width: nil).text.utf8)
    case .base64: Array(Data(beginning(head)).base64EncodedString().utf8)
    }
  }

  /// The value as a field; bytes that are not UTF-8 become base64 by themselves.
  func cell(as style: ValueStyle, head: Int?) throws(ShellError) -> Cell {
    switch style {
    case .auto, .text: .bytes(Array(beginning(head)))
    case .json: .json(.verbatim(String(decoding: try json(head).minified, as: UTF8.self)))
    case .hex, .base64: .base64(Array(beginning(head)))
    }
  }

  private func beginning(_ head: Int?) -> ArraySlice<UInt8> { bytes.prefix(head ?? .max) }

  func json(_ head: Int? = nil) throws(ShellError) -> JSONText {
    do throws(JSONText.Flaw) {
      return try JSONText(Array(beginning(head)))
    } catch {
      throw ShellError(
        .usage,
        "the value of \(entry.key.bytes) is not JSON: \(error.reason) at byte \(error.offset)",
        hint: head == nil ? "get it --as text or --as hex" : "with --head it is not whole")
    }
  }
}

extension Span<UInt8> {
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for index in indices { bytes.append(self[index]) }
    return bytes
  }
}
