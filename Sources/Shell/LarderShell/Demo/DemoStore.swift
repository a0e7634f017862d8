import Larder

/// The store of `larder demo`: 400 entries in three namespaces. The content is fixed, and the times are relative to now.
package struct DemoStore {
  package static let directory = "larder-demo"

  /// Commands that a person can try on the store of `larder demo` to see what the shell can do.
  package static let suggestions = [
    "namespaces",
    "keys @sets --where '.year >= 2010 and .name ~ \"Castle\"' --show .name,.year",
    "count @web --by status",
    "expiring @*",
    "evict @sets --tag retired --dry-run",
  ]

  private let store: Store
  private let now: Timestamp

  /// Creates the store; throws `.exists` if the path exists.
  package static func create(at path: String) throws {
    guard !LocalFile.exists(path) else {
      throw LarderError(
        .exists, "\"\(path)\" exists",
        hint: "`larder \(path)` opens a store; `larder demo DIRECTORY` creates one elsewhere")
    }
    var options = Store.Options()
    options.create = true
    let now = options.clock.now
    try Store.making(at: path, options) { try DemoStore(store: $0, now: now).fill() }
  }

  private func fill() throws {
    try store.write { batch in
      for number in 0..<240 { try addSet(number, to: &batch) }
      for number in 0..<120 { try addPage(number, to: &batch) }
      for number in 0..<40 { try addImage(number, to: &batch) }
    }
  }

  private static let places = [
    "Harbor", "Mountain", "Forest", "Desert", "Arctic", "Moon", "Jungle", "River", "Island", "City",
  ]
  private static let buildings = [
    "Castle", "Station", "Tower", "Bridge", "Market", "Lighthouse", "Workshop", "Museum",
  ]
  private static let themes = ["Town", "Space", "Knights", "Trains", "Nature"]

  private func addSet(_ number: Int, to batch: inout WriteBatch) throws {
    let name =
      "\(Self.places[number % 10]) \(Self.buildings[number / 10 % 8])"
      + (number >= 80 ? " \(number / 80 + 1)" : "")
    let year = 1980 + number * 7 % 45
    let theme = Self.themes[number % 5]
    let value =
      "{\"name\":\"\(name)\",\"year\":\(year),\"parts\":\(40 + number * 37 % 1900),"
      + "\"theme\":\"\(theme)\",\"colors\":[\"\(number % 2 == 0 ? "red" : "blue")\",\"gray\"]}"
    var attributes = EntryAttributes(codec: .json, expires: lifetime(of: number))
    attributes.tags = year < 1990 ? [theme.lowercased(), "retired"] : [theme.lowercased()]
    attributes.written = now.advanced(by: .minutes(-(3 + number % 55)))
    try batch.set(
      Array(value.utf8), for: "\(1000 + number)-1", in: store.namespace("sets"), attributes)
  }

  /// The lifetime of an entry, from a minute to forever. Every twelfth entry has already expired.
  private func lifetime(of number: Int) -> Expiration {
    switch number % 12 {
    case 0: .at(now.advanced(by: .minutes(-2)))
    case 1: .after(.minutes(1 + number % 9))
    case 2, 3, 4: .after(.minutes(15 + number % 45))
    case 5, 6, 7: .after(.hours(1 + number % 23))
    case 8, 9: .after(.hours(24 * (1 + number % 6)))
    default: .never
    }
  }

  private func addPage(_ number: Int, to batch: inout WriteBatch) throws {
    let status =
      switch number % 15 {
      case 3: "404 Not Found"
      case 7: "301 Moved Permanently"
      case 11: "410 Gone"
      default: "200 OK"
      }
    let title = "\(Self.places[number % 10]) \(Self.buildings[number % 8])"
    let paragraph = "The \(title) opened in \(1900 + number). "
    let body =
      "<!doctype html>\n<title>\(title)</title>\n"
      + String(repeating: "<p>\(paragraph)</p>\n", count: 1 + number % 12)
    let maxAge = 60 * (1 + number % 30)
    let head = [
      "larder-http/1 \(status)", "", "Content-Type: text/html; charset=utf-8",
      "Cache-Control: max-age=\(maxAge)", "ETag: \"page-\(number)\"",
    ]
    var attributes = EntryAttributes(codec: .bytes, expires: .after(.seconds(maxAge)))
    attributes.entityTag = Array("\"page-\(number)\"".utf8)
    attributes.metadata = Array(head.map { $0 + "\n" }.joined().utf8)
    attributes.tags = ["page"]
    attributes.written = now.advanced(by: .seconds(-number))
    try batch.set(
      Array(body.utf8), for: "https://example.org/places/\(number)", in: store.namespace("web"),
      attributes)
  }

  /// Adds a GIF image of one pixel. Each image has another color, so that the values differ.
  private func addImage(_ number: Int, to batch: inout WriteBatch) throws {
    let color = [UInt8(number * 6), UInt8(255 - number * 5), UInt8(number % 4 * 60)]
    let image =
      Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + color + [0, 0, 0]
      + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
    var attributes = EntryAttributes(
      codec: .bytes, expires: number % 3 == 0 ? .never : .after(.hours(1 + number)))
    attributes.isPinned = number == 0
    attributes.tags = ["thumbnail"]
    try batch.set(
      image, for: "thumbs/\(number / 10)/\(number).gif", in: store.namespace("images"), attributes)
  }
}
