import Articles
import ExampleTesting

/// Numbers of a service that a `Double` cannot have.
@Suite struct LargeNumberTests {
  @Test func `bookmarks with neighbouring large ids are two, and keep all numbers`() throws {
    let rows = ["9007199254740992", "9007199254740993", "18446744073709551615"].map {
      #"{"hash":\#($0),"id":\#($0),"updated":"2026-01-01T00:00:00Z"}"#
    }
    for row in rows {
      let bookmark = try JSONDecoder().decode(Bookmark.self, from: Data(row.utf8))
      #expect(row.contains("\"id\":\(bookmark.id),"))
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      #expect(try String(decoding: encoder.encode(bookmark), as: UTF8.self) == row)
    }
  }
}
