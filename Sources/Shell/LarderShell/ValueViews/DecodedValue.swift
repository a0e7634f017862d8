import Larder
import LarderCodecs
import ShellLanguage

/// Values in a form that people and queries can read: CBOR as JSON, and a versioned value without its version.
enum DecodedValue {
  /// The readable form. Nil if the bytes already are readable, or if the codec cannot decode them.
  static func readable(_ bytes: Span<UInt8>, _ codec: CodecID) -> [UInt8]? {
    switch codec {
    case .cbor: return (try? CBORValue(bytes)).map { Array($0.json.text.utf8) }
    case .versioned:
      guard let envelope = ValueEnvelope(bytes), envelope.codec != .versioned else { return nil }
      let inside = bytes.extracting(droppingFirst: ValueEnvelope.size)
      return readable(inside, envelope.codec) ?? inside.bytes
    default: return nil
    }
  }

  /// The description of a CBOR value that has no form in JSON, for example a map whose keys are numbers.
  static let unshownCBOR = "CBOR that JSON cannot show"

  static func isCBOR(_ bytes: Span<UInt8>, _ codec: CodecID) -> Bool {
    codec == .cbor || codec == .versioned && ValueEnvelope(bytes)?.codec == .cbor
  }

  /// Passes the readable form to `body`. If there is no such form, passes the unchanged bytes.
  static func withReadable<Result>(
    _ bytes: Span<UInt8>, _ codec: CodecID, _ body: (Span<UInt8>) throws -> Result
  ) rethrows -> Result {
    if let readable = readable(bytes, codec) { return try body(readable.span) }
    return try body(bytes)
  }

  /// A description that follows the size, such as `version 2 of cbor`. Nil for a codec whose bytes are shown unchanged.
  static func kind(_ bytes: Span<UInt8>, _ codec: CodecID) -> String? {
    switch codec {
    case .cbor: "cbor"
    case .versioned: ValueEnvelope(bytes).map { "version \($0.number) of \($0.codec.name)" }
    default: nil
    }
  }

  /// The reason why the codec cannot decode the bytes. Nil for valid bytes, and for a codec that is not checked.
  static func problem(of value: Span<UInt8>, codec: CodecID) -> String? {
    switch codec {
    case .json:
      return JSONText.error(in: value.bytes).map {
        "the value is \($0.predicate) at byte \($0.offset)"
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
      // A value without a version was written before its type had versions. Its codec is unknown here, so the check fails.
      guard let envelope = ValueEnvelope(value), envelope.codec != .versioned else {
        return "the value has no version"
      }
      return problem(of: value.extracting(droppingFirst: ValueEnvelope.size), codec: envelope.codec)
    default: return nil
    }
  }
}

extension CBORValue {
  /// The item as JSON: byte strings as base64, special floats as text, the fields of a map in the order of their names.
  fileprivate var json: JSON {
    switch self {
    case .unsigned(let number): .verbatim(String(number))
    case .negative(let number): .verbatim(String(-1 - Int128(number)))
    case .bytes(let bytes): Cell.base64(bytes).jsonField("").value
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
