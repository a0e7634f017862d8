import Larder
import ShellLanguage

extension ImportLine {
  /// The fields of a line as they are written.
  struct Fields: Decodable {
    var larderExport: Int?
    var namespace: String?
    var rules: Rules?
    var overrides: Rules.Overrides?
    var key: String?
    var keyBase64: String?
    var value: String?
    var valueBase64: String?
    var codec: CodecField?
    var written: ExportedTime?
    var expires: ExportedExpiry?
    var staleUntil: ExportedTime?
    /// Seconds, as in every answer.
    var idle: Double?
    var pinned: Bool?
    var owners: [OwnerFields]?
    var tags: [String]?
    var etag: String?
    var etagBase64: String?
    var lastModified: String?
    var lastModifiedBase64: String?
    var metadata: String?
    var metadataBase64: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
      case larderExport = "larder_export"
      case namespace
      case rules
      case overrides
      case key
      case keyBase64 = "key_base64"
      case value
      case valueBase64 = "value_base64"
      case codec
      case written
      case expires
      case staleUntil = "stale_until"
      case idle
      case pinned
      case owners
      case tags
      case etag
      case etagBase64 = "etag_base64"
      case lastModified = "last_modified"
      case lastModifiedBase64 = "last_modified_base64"
      case metadata
      case metadataBase64 = "metadata_base64"
    }

    static let shape = JSONFields.Shape(
      CodingKeys.allCases.map(\.rawValue),
      [
        CodingKeys.rules.rawValue: rules(Rules.CodingKeys.allCases.map(\.rawValue)),
        CodingKeys.overrides.rawValue: rules(Rules.Overrides.CodingKeys.allCases.map(\.rawValue)),
        CodingKeys.owners.rawValue: .init(OwnerFields.CodingKeys.allCases.map(\.rawValue)),
      ])

    private static func rules(_ names: [String]) -> JSONFields.Shape {
      JSONFields.Shape(
        names,
        [
          Rules.CodingKeys.expires.rawValue: .init(Expiration.CodingKeys.allCases.map(\.rawValue)),
          Rules.CodingKeys.limits.rawValue: .init(Limits.CodingKeys.allCases.map(\.rawValue)),
        ])
    }

    /// The first field that only an entry has; nil if there is none.
    var entryField: String? {
      let present: [(CodingKeys, Bool)] = [
        (.value, value != nil), (.valueBase64, valueBase64 != nil), (.codec, codec != nil),
        (.written, written != nil), (.expires, expires != nil), (.staleUntil, staleUntil != nil),
        (.idle, idle != nil), (.pinned, pinned != nil), (.owners, owners != nil),
        (.tags, tags != nil), (.etag, etag != nil), (.etagBase64, etagBase64 != nil),
        (.lastModified, lastModified != nil), (.lastModifiedBase64, lastModifiedBase64 != nil),
        (.metadata, metadata != nil), (.metadataBase64, metadataBase64 != nil),
      ]
      return present.first(where: \.1)?.0.rawValue
    }
  }

  struct OwnerFields: Decodable {
    var namespace: String
    var key: String?
    var keyBase64: String?

    fileprivate enum CodingKeys: String, CodingKey, CaseIterable {
      case namespace
      case key
      case keyBase64 = "key_base64"
    }
  }

  /// The name of a codec, or its number as text or as a number.
  struct CodecField: Decodable {
    let name: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      do {
        name = try container.decode(String.self)
      } catch DecodingError.typeMismatch {
        guard let number = try? container.decode(UInt8.self) else {
          throw DecodingError.typeMismatch(
            UInt8.self,
            .init(codingPath: decoder.codingPath, debugDescription: "it is no number of a codec"))
        }
        name = String(number)
      }
    }
  }

  /// `never`, or a time.
  enum ExportedExpiry: Decodable {
    case never
    case at(Timestamp)

    init(from decoder: any Decoder) throws {
      let text = try? decoder.singleValueContainer().decode(String.self)
      self = text == ExportFormat.never ? .never : .at(try ExportedTime(from: decoder).time)
    }
  }

  struct ExportedTime: Decodable {
    let time: Timestamp

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      let text = try? container.decode(String.self)
      if text == nil, let milliseconds = try? container.decode(Int64.self) {
        time = Timestamp(milliseconds: milliseconds)
        return
      }
      guard let text, let time = UnixTime(rfc3339: text) else {
        throw DecodingError.typeMismatch(
          Timestamp.self,
          .init(codingPath: decoder.codingPath, debugDescription: "it is no moment"))
      }
      self.time = Timestamp(time)
    }
  }
}
