import ExampleTesting

@testable import Articles

/// The forms in which a service sends the fields of a bookmark.
@Suite struct BookmarkTests {
  private func bookmark(_ fields: String) throws -> Bookmark {
    try JSONDecoder().decode(Bookmark.self, from: Data("{\(fields)}".utf8))
  }

  @Test func `an id may be a number, and a number text; all fields stay`() throws {
    let read = try bookmark(#""id": 17, "updated": "", "read_progress": "100", "title": 5"#)
    #expect(read.id == "17" && read.isRead && read.name == "17")
    for id in ["1.5", "true", "null", #""""#, "[]"] {
      #expect(throws: DecodingError.self, "\(id)") { try bookmark(#""id": \#(id), "updated": """#) }
    }
    let row = #"{"hash":9007199254740991,"id":7,"updated":"2026-01-01T10:00:00.123456Z"}"#
    let large = try JSONDecoder().decode(Bookmark.self, from: Data(row.utf8))
    #expect(large.changed.map { "\($0)" } == "2026-01-01T10:00:00.000Z")
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(try String(decoding: encoder.encode(large), as: UTF8.self) == row)
  }
}
