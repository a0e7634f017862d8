import Articles
import ExampleTesting

/// The forms in which a service sends the fields of a bookmark.
@Suite struct BookmarkTests {
  private func bookmark(_ fields: String) throws -> Bookmark {
    try JSONDecoder().decode(Bookmark.self, from: Data("{\(fields)}".utf8))
  }

  private func bookmark(at time: String) throws -> Bookmark {
    try bookmark(#""id": "a", "created": "\#(time)", "updated": "\#(time)""#)
  }

  @Test(arguments: [
    ("2025-04-04T14:09:22.123456788Z", "2025-04-04T14:09:22.123456789Z"),
    ("2025-04-04T16:09:22+02:00", "2025-04-04T15:09:22Z"),
    ("2025-04-04T14:09:22.50Z", "2025-04-04T14:09:22.75+00:00"),
    ("2025-04-04T14:09:22Z", "2025-04-04T14:09:23.1Z"), ("2025-04-04T14:09:22.5Z", "sometime"),
    ("2025-04-05T01:00:00.9+05:30", "2025-04-04T20:00:00.1Z"),
    ("2025-12-31T23:59:59Z", "2025-12-31T20:00:00-04:00"),
    ("2025-04-04T14:09Z", "2025-04-04T14:09:22Z"),
    ("2025-04-04T14:09:22Z", "2025-04-04T13:10-01:00"),
    // Zeros at the end of a fraction are left out: fewer digits are not a rounded time.
    ("2025-04-04T14:09:22Z", "2025-04-04T14:09:22.646333268Z"),
    ("2025-04-04T14:09:22.64Z", "2025-04-04T14:09:22.646Z"),
    ("2025-04-04T14:09:22Z", "2025-04-04T14:09:22.000001Z"),
  ]) func `times are compared as instants, and any other is an edit`(early: String, late: String)
    throws
  {
    let (early, late) = (try bookmark(at: early), try bookmark(at: late))
    #expect(late.isEdited(since: early) && early.isEdited(since: late))
    #expect(late.isNewer(than: early) && !early.isNewer(than: late))
  }

  @Test(arguments: [
    ("2025-04-04T14:09:22Z", "2025-04-04T16:09:22+02:00"),
    ("2025-04-04T14:09:22.5Z", "2025-04-04T14:09:22.500Z"),
    ("2025-04-04T14:09:22Z", "2025-04-04T09:09:22.0-05:00"),
    ("2025-04-04T14:09Z", "2025-04-04T14:09:00.0Z"),
    ("2025-04-04T14:09:22Z", "2025-04-04T14:09:22+00:00"),
    // Cut or rounded to fewer digits.
    ("2025-04-04T14:09:22.123456789Z", "2025-04-04T14:09:22.123456+00:00"),
    ("2025-04-04T14:09:22.123456789Z", "2025-04-04T14:09:22.123457+00:00"),
    ("2025-04-04T14:09:22.9999996Z", "2025-04-04T14:09:23.000000Z"),
  ]) func `two forms of one time are no edit`(one: String, other: String) throws {
    let (one, other) = (try bookmark(at: one), try bookmark(at: other))
    #expect(!one.isEdited(since: other) && !other.isEdited(since: one))
  }

  @Test func `an id may be a number, and a number text`() throws {
    let read = try bookmark(#""id": 17, "updated": "", "read_progress": "100""#)
    #expect(read.id == "17" && read.isRead)
    #expect(try !bookmark(#""id": "7", "updated": "", "read_progress": "99""#).isRead)
    for id in ["1.5", "true", "null", #""""#, "[]"] {
      #expect(throws: DecodingError.self, "\(id)") { try bookmark(#""id": \#(id), "updated": """#) }
    }
  }
}
