package import Larder
package import ShellLanguage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value in a form that people and queries can read: CBOR as JSON, and the inside of a value with a version.
enum DecodedValue {
  /// Nil if the bytes are readable as they are, or are not what the codec says.
  static func readable(_ bytes: Span<UInt8>, _ codec: CodecID) -> [UInt8]? {
    switch codec {
    case .cbor:
      do throws(DecodingError) {
        return Array(try CBORValue(bytes).json.text.utf8)
      } catch {
        return nil
      }
    case .versioned:
      guard let envelope = ValueEnvelope(bytes), envelope.codec != .versioned else { return nil }
      let inside = bytes.extracting(droppingFirst: ValueEnvelope.size)
      return readable(inside, envelope.codec) ?? inside.bytes
    default: return nil
    }
  }

  /// Lends the readable form, else the bytes as they are.
  static func withReadable<Result>(
    _ bytes: Span<UInt8>, _ codec: CodecID, _ body: (Span<UInt8>) throws -> Result
  ) rethrows -> Result {
    if let readable = readable(bytes, codec) { return try body(readable.span) }
    return try body(bytes)
  }

  /// The description of the bytes that stands beside their size, such as `version 2 of cbor`; nil for the codecs without a form of their own.
  static func kind(_ bytes: Span<UInt8>, _ codec: CodecID) -> String? {
    switch codec {
    case .cbor: "cbor"
    case .versioned:
      ValueEnvelope(bytes).map { "version \($0.number) of \($0.codec.name)" }
    default: nil
    }
  }

  /// Why the bytes are not what the codec says; nil if they are, or if the codec is unknown.
  static func problem(of value: Span<UInt8>, codec: CodecID) -> String? {
    switch codec {
    case .json:
      do throws(JSONText.ParseError) {
        _ = try JSONText(value.bytes)
        return nil
      } catch {
        return "the value is \(error.predicate) at byte \(error.offset)"
      }
    case .text:
      return String(validating: value.bytes, as: UTF8.self) == nil ? "the value is not UTF-8" : nil
    case .cbor:
      do throws(DecodingError) {
        _ = try CBORValue(value)
        return nil
      } catch {
        guard case .dataCorrupted(let context) = error else { return "the value is not CBOR" }
        return "the value is \(context.debugDescription)"
      }
    case .versioned:
      // Without a version it is of the time before versions, in a codec that only the program knows.
      guard let envelope = ValueEnvelope(value), envelope.codec != .versioned else {
        return "the value has no version"
      }
      return problem(
        of: value.extracting(droppingFirst: ValueEnvelope.size), codec: envelope.codec)
    default:
      return nil
    }
  }
}

extension CBORValue {
  /// Byte strings as base64, floats that JSON lacks as text; the fields of a map in the order of their names.
  fileprivate var json: JSON {
    switch self {
    case .unsigned(let number): .verbatim(String(number))
    case .negative(let number): .verbatim(String(-1 - Int128(number)))
    case .bytes(let bytes): .string(Data(bytes).base64EncodedString())
    case .text(let text): .string(text)
    case .array(let items): .array(items.map(\.json))
    case .map(let items):
      .object(items.sorted { $0.key < $1.key }.map { JSON.Field($0.key, $0.value.json) })
    case .bool(let value): .bool(value)
    case .null: .null
    case .float(let number): Self.json(number)
    case .double(let number): Self.json(number)
    }
  }

  private static func json(_ number: some BinaryFloatingPoint & CustomStringConvertible) -> JSON {
    number.isFinite ? .verbatim(number.description) : .string(number.description)
  }
}

/// Transforms of values, such as encryption, that this program cannot revert: it has no keys.
package struct UnknownTransforms {
  private static let mostLooked = 16

  private let known: [TransformID]

  /// - Parameter known: The transforms that this program can revert.
  init(known: [TransformID]) { self.known = known }

  func first(of entry: Store.Entry) -> TransformID? {
    entry.transforms.first { !known.contains($0) }
  }

  /// `encrypted (AES-GCM)` if one of the first values of a namespace cannot be read; nil otherwise.
  private func name(in namespace: Store.Namespace) throws(LarderError) -> String? {
    try namespace.page(limit: Self.mostLooked).items.lazy.compactMap(first).first?.name
  }

  /// A note for the prompt if the first values of a namespace cannot be read.
  package func remark(on store: Store) throws -> SafeText? {
    do throws(LarderError) {
      for info in try store.namespaces().prefix(Self.mostLooked) {
        if let name = try name(in: store.namespace(info.name)) {
          return "values are \(name); \(ShellError.unreadableHint)"
        }
      }
      return nil
    } catch {
      throw ShellError(error)
    }
  }

  /// A note that values were stored as they are beside others that are encrypted; nil without such others.
  func note(
    _ namespace: Store.Namespace, stored: SafeText = "this one is not",
    missed: SafeText = "the entry"
  ) throws -> SafeText? {
    try name(in: namespace).map { name in
      "note: the other values of \(namespace.name) are \(name), \(stored): an application that requires it misses \(missed)"
    }
  }
}

/// The entries that a command passes over because this program cannot read their values.
final class UnreadableValues {
  private let unknown: UnknownTransforms
  private let notify: (SafeText) throws -> Void
  private var count = 0
  private var form: String?

  var isEmpty: Bool { count == 0 }

  init(_ unknown: UnknownTransforms, notify: @escaping (SafeText) throws -> Void) {
    self.unknown = unknown
    self.notify = notify
  }

  /// Names the entry and counts it if its value cannot be read.
  func take(_ entry: Store.Entry) throws -> Bool {
    guard let transform = unknown.first(of: entry) else { return false }
    count += 1
    form = transform.name
    try notify("note: \(Self.description(of: entry))")
    return true
  }

  /// `the value of "a", 7 B, is encrypted (AES-GCM)`
  static func description(of entry: Store.Entry) -> SafeText {
    let forms = entry.transforms.map(\.name).joined(separator: " and ")
    return "the value of \(entry.key.bytes), \(Wording.size(entry.size)), is \(forms)"
  }

  /// Throws if there was one.
  ///
  /// - Parameter others: The number of values that could be read.
  func check(others: Int) throws(ShellError) {
    guard let form else { return }
    throw ShellError(
      .unreadable,
      "\(Wording.count(count)) of \(Wording.count(count + others, "value", "values")) \(count == 1 ? "is" : "are") \(form)",
      hint: ShellError.unreadableHint)
  }
}
