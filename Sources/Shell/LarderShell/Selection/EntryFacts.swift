import Larder
import ShellLanguage

/// A stored entry as queries see the entry. The metadata of an HTTP response is parsed when a query needs the response.
final class EntryFacts: QueryFacts {
  private let entry: Store.Entry
  private lazy var response = entry.response

  init(_ entry: Store.Entry) { self.entry = entry }

  var key: [UInt8] { entry.key.bytes }
  var metadata: [UInt8]? { entry.metadata }

  func header(_ name: [UInt8]) -> [UInt8]? {
    let fields = (response?.fields ?? []).filter {
      $0.name.lazy.map(\.lowercased).elementsEqual(name)
    }
    return fields.isEmpty ? nil : Array(fields.map(\.value).joined(separator: Array(", ".utf8)))
  }

  func fact(_ name: QueryName, of value: Span<UInt8>, at now: UnixTime) -> QueryValue {
    func text(_ text: String) -> QueryValue { .string(Array(text.utf8)) }
    func time(_ time: Timestamp?) -> QueryValue { time.map { .time($0.unix) } ?? .null }
    return switch name {
    case .key: .text(key)
    case .namespace: text(entry.namespace)
    case .codec: text(entry.codec.name)
    case .etag: .text(entry.entityTag)
    case .state: text(entry.state.rawValue)
    case .size: .integer(Int128(entry.size))
    case .stored: .integer(Int128(entry.storedSize))
    case .version: .integer(Int128(entry.version))
    case .status: response.map { .integer(Int128($0.code)) } ?? .null
    case .written: time(entry.written)
    case .used: time(entry.lastUsed)
    case .expires: time(entry.expires)
    case .lastModified:
      entry.lastModified.flatMap(UnixTime.init(httpDate:)).map { .time($0) } ?? .null
    case .now: .time(now)
    case .ttl: entry.expires.map { .duration($0.unix.since(now)) } ?? .null
    case .age: .duration(now.since(entry.written.unix))
    case .idle: .duration(now.since(entry.lastUse.unix))
    case .tags: .list(entry.tags.map(text))
    case .pinned: .bool(entry.isPinned)
    case .negative: .bool(entry.isNegative)
    case .value: .text(value.bytes)
    }
  }
}

extension Store.Entry {
  /// The time of the last known use. If no use is known, the time of the write.
  var lastUse: Timestamp { lastUsed ?? written }
}
