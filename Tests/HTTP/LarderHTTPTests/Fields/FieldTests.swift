import HTTPTypes
import Larder
import Testing

@testable import LarderHTTP

struct FieldTests {
  @Test(arguments: [
    ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
    ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Sun Nov 16 08:49:37 1994", 784_975_777),
    ("SUN, 06 NOV 1994 08:49:37 gmt", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ("Sat, 29 Feb 2020 23:59:60 GMT", 1_583_020_800),
    ("Sat, 20 Nov 2286 17:46:39 GMT", 9_999_999_999),
    ("Thursday, 18-Aug-50 02:01:18 GMT", 2_544_400_878),
    ("Friday, 31-Dec-99 23:59:59 GMT", 946_684_799),
  ])
  func `RFC 9110, 5.6.7: three forms of dates are read, in any case`(text: String, seconds: Int64) {
    #expect(HTTPDate(strictly: text, now: start)?.seconds == seconds)
    #expect(HTTPDate(leniently: text, now: start)?.seconds == seconds)
  }

  @Test(arguments: [
    "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18 Aug 2050 02:01:18 AEST",
    "Thu, 18 Aug 50 02:01:18 GMT", "Thu 18 Aug 2050 02:01:18 GMT",
    "Thu, 18  Aug  2050 02:01:18 GMT", "Thu, 18-Aug-2050 02:01:18 GMT",
    "Thu, 18 Aug 2050 02.01.18 GMT", "Thu, 18 Aug 2050 2:01:18 GMT", "0", "-1", "", "never",
    "Thu, 31 Feb 2050 02:01:18 GMT", "Thu, 18 Aug 2050 24:01:18 GMT",
    "Thu, 18 Aug 2050 02:01:18 GMT ", "Thu, 18 Aug 2050 02:01:18", "Xyz, 18 Aug 2050 02:01:18 GMT",
    "Thu, 18 Aug 2050 02:01:18 GMT, x",
  ]) func `RFC 9111, 4.2 and 5.3: nothing else is an expiry`(text: String) {
    #expect(HTTPDate(strictly: text, now: start) == nil)
  }

  @Test(
    arguments: [
      ("Fri, 07 Oct 2022 23:06:00 UTC", 1_665_183_960),
      ("Fri,  7 Oct 2022 23:06:00 GMT", 1_665_183_960),
      ("Fri, 07-Oct-2022 23:06:00 GMT", 1_665_183_960),
      ("Fri, 7 October 2022 23:06 GMT", 1_665_183_960), ("07 Oct 22 23:06:00 Z", 1_665_183_960),
      ("Sat, 08 Oct 2022 01:06:00 +0200", 1_665_183_960),
      ("Fri, 07 Oct 2022 18:06:00 -0500", 1_665_183_960), ("", nil), ("0", nil), ("yesterday", nil),
      ("07 Oct", nil), ("23:06:00", nil), ("Fri, 07 Oct 2022 23:06:00 CEST", nil),
    ] as [(String, Int64?)])
  func `dates that say an age are read as servers send them`(text: String, seconds: Int64?) {
    #expect(HTTPDate(leniently: text, now: start)?.seconds == seconds)
  }

  @Test func `a date is read as it is written, and the nearest if no timestamp can hold it`() {
    #expect(HTTPDate(seconds: .max).timestamp == Timestamp(milliseconds: .max))
    #expect(HTTPDate(seconds: .min).timestamp == Timestamp(milliseconds: .min))
    #expect(HTTPDate(seconds: -2).timestamp == Timestamp(milliseconds: -2000))
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let date = HTTPDate(
        seconds: Int64.random(in: -62_135_596_800..<253_402_300_800, using: &random))
      #expect(HTTPDate(strictly: date.text, now: start) == date, "\(date.seconds)")
    }
    #expect(HTTPDate(seconds: 784_111_777).text == "Sun, 06 Nov 1994 08:49:37 GMT")
  }

  @Test(
    arguments: [
      ("0", 0), ("003600", 3600), ("2147483648", 1 << 31), ("99999999999999999999999", 1 << 31),
      ("", nil), ("-1", nil), ("+1", nil), ("1.0", nil), ("a", nil), ("1a", nil), (" 1", nil),
      ("'1'", nil),
    ] as [(String, Int?)])
  func `RFC 9111, 1.2.2: seconds are digits, and too many the most`(text: String, seconds: Int?) {
    #expect(DeltaSeconds.parse(text) == seconds)
  }

  @Test(
    arguments: [
      (["7200"], 7200), (["7200, 0"], 7200), (["0, 7200"], 0), (["0", "7200"], 0), (["abc"], nil),
      (["-7200"], nil), (["7200.0"], nil), (["7200;foo=1"], 7200), ([""], nil), ([], nil),
      (["2147483649"], 1 << 31),
    ] as [([String], Int?)])
  func `RFC 9111, 5.1: the first Age counts, if it is a number`(lines: [String], seconds: Int?) {
    #expect(ResponseAge.value(HTTPFields(lines.map { ("Age", $0) })) == seconds)
  }

  @Test(
    arguments: [
      (["max-age=3600"], .seconds(3600)), (["MaX-aGe=3600"], .seconds(3600)),
      (["foobar, max-age=3600"], .seconds(3600)), (["max-age=\"3600\""], .seconds(3600)),
      (["max-age='3600'"], .invalid), (["max-age=-1"], .invalid), (["max-age=1.5"], .invalid),
      (["max-age"], .invalid), (["max-age="], .invalid), (["max-age =1"], .invalid),
      (["max-age= 1"], .invalid), (["max-age=1, max-age=1"], .seconds(1)),
      (["max-age=1", "max-age=1800"], .invalid), (["max-age=1800, max-age=1"], .invalid),
      (["x=\"max-age=3600\""], .absent), (["x=\"max-age=3600\", max-age=1"], .seconds(1)),
      (["x=\"a\\\", max-age=3600"], .absent), (["s-max-age=1"], .absent),
      (["s-maxage=9"], .absent), (["x-cache-control: public, max-age=900"], .seconds(900)),
      (["max-age=3153600000"], .seconds(1 << 31)), ([",,max-age=5,"], .seconds(5)),
    ] as [([String], CacheControl.Seconds)])
  func `RFC 9111, 5.2: max-age is found where it is one, and only there`(
    lines: [String], expected: CacheControl.Seconds
  ) {
    let control = CacheControl(HTTPFields(lines.map { ("Cache-Control", $0) }))
    #expect(control.seconds("max-age") == expected)
  }

  @Test(
    arguments: [
      ("no-cache", true, []), ("No-CaChE", true, []), ("no-cache=\"a\"", false, ["a"]),
      ("no-cache=\"A, b\"", false, ["a", "b"]), ("no-cache=a", false, ["a"]),
      ("no-cache=\"\"", true, []), ("no-cache=\"a", true, []),
      ("no-cache, no-cache=\"a\"", true, []), ("nocache", false, []),
    ] as [(String, Bool, Set<String>)])
  func `RFC 9111, 5.2.2.4: no-cache speaks of the response, or of the fields it names`(
    line: String, whole: Bool, names: Set<String>
  ) {
    let directives = ResponseDirectives(HTTPFields([("Cache-Control", line)]), for: .private)
    #expect(directives.noCache == whole)
    #expect(whole || directives.unusableFields == names)
  }

  @Test func `RFC 9110, 8.8.3.2: tags are compared byte for byte, strongly or weakly`() {
    let (strong, weak) = (EntityTag("\"a\""), EntityTag("W/\"a\""))
    #expect(strong.matchesStrongly(strong) && strong.matchesWeakly(weak))
    #expect(!weak.matchesStrongly(weak) && !strong.matchesStrongly(weak))
    #expect(weak.matchesWeakly(weak) && !strong.matchesWeakly(EntityTag("\"A\"")))
    #expect(!EntityTag("a").matchesWeakly(strong) && EntityTag("a").matchesWeakly(EntityTag("a")))
    #expect(EntityTag("w/\"a\"").matchesWeakly(EntityTag("w/\"a\"")))
    #expect(!EntityTag("w/\"a\"").matchesWeakly(strong))
  }

  @Test func `SHA-256 gives what FIPS 180-4 says`() {
    func hex(_ text: String) -> String {
      SHA256.hash(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let expected = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    #expect(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") == expected)
    let wanted = "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
    #expect(hex(String(repeating: "a", count: 1000)) == wanted)
  }
}

/// Fields are bytes: two values are equal only if their bytes are equal.
struct ByteTests {
  /// One name with an accent in different bytes, such as composed and decomposed UTF-8 and Latin-1. No two names are equal.
  private static let names: [[UInt8]] = [
    Array("andr\u{E9}".utf8), Array("andre\u{301}".utf8), Array("andr".utf8) + [0xE9],
    Array("andr\u{F7E9}".utf8), Array("andr\u{FFFD}".utf8), Array("andre9".utf8),
  ]

  @Test func `different values have different texts`() {
    let texts = Self.names.map { value in
      Array(HTTPField(name: .cookie, value: value).faithfulText.utf8)
    }
    #expect(Set(texts).count == Self.names.count)
  }

  /// Swift treats `@` and the accent after it as one character, so a search for the character `@` would not find the password.
  @Test func `a password is no part of a key, whatever byte comes after it`() {
    let request = LarderHTTPTests.request(host: "andre:secret@\u{301}example.com")
    #expect(ResponseKey(request)?.host == "%CC%81example.com")
    #expect(ResponseKey(request)?.base.contains("secret") == false)
    #expect(Principal(request, policy: HTTPCachePolicy()).digest != nil)
  }

  /// Each case: a field with credentials, or a field that `Vary` names.
  @Test(arguments: [
    ("Authorization", false), ("Cookie", false), ("X-User", true), ("Cookie", true),
    ("Accept-Language", true),
  ])
  func `RFC 9111, 4.1: credentials and Vary compare bytes`(name: String, isVaried: Bool) {
    let harness = HTTPHarness()
    if !isVaried { harness.rules.policy.partitionFields = [.cookie] }
    for value in Self.names {
      var request = LarderHTTPTests.request()
      request.headerFields.append(HTTPField(name: .init(name)!, value: value))
      #expect(!harness.isHit(request))
      harness.prime("max-age=100", isVaried ? [("Vary", name)] : [], request: request)
      #expect(harness.isHit(request))
    }
    let (first, second) = ("\u{E9}", "e\u{301}")
    #expect(VaryKey(fields: [("a", first)]) != VaryKey(fields: [("a", second)]))
    #expect(VaryKey(fields: [("a", first)]) == VaryKey(fields: [("a", first)]))
  }

  @Test func `validators are compared by their bytes`() {
    #expect(EntityTag("\"\u{E9}\"") != EntityTag("\"e\u{301}\""))
    #expect(EntityTag("W/\u{338}").isWeak, "a combining character does not hide the mark")
    let harness = HTTPHarness()
    var first = response(200, [("Cache-Control", "max-age=0")])
    first.headerFields.append(HTTPField(name: .lastModified, value: [0xFC]))
    _ = harness.ask { _ in (first, "body") }
    for (byte, count) in [(UInt8(0xFC), 1), (0xFD, 2)] {
      let result = harness.ask { request in
        guard request.headerFields.contains(.ifModifiedSince) else { return (response(), "new") }
        var newer = response(304)
        newer.headerFields.append(HTTPField(name: .lastModified, value: [byte]))
        return (newer, "")
      }
      #expect(result.sent.count == count)
    }
  }

  @Test(arguments: [
    ("W/\"a\"", "\"a\"", false), ("W/\"a\"", "W/\"a\"", true), ("\"a\"", "W/\"a\"", true),
    ("\"a\"", "\"a\"", true),
  ])
  func `RFC 9111, 4.3.4: a strong tag makes no response with a weak tag strong`(
    stored: String, newer: String, isSame: Bool
  ) {
    for method in ["GET", "HEAD"] {
      let harness = HTTPHarness(holding: "max-age=2", [("ETag", stored)], age: 3)
      let fields: Pairs = [("Cache-Control", "max-age=100"), ("ETag", newer)]
      let result = harness.ask(request(method)) { request in
        request.method == .head
          ? (response(200, fields), "")
          : request.headerFields.contains(.ifNoneMatch)
            ? (response(304, fields), "") : (response(200, fields), "new")
      }
      if method == "HEAD" {
        #expect(harness.held.isEmpty != isSame)
      } else {
        #expect(result.sent.count == 1 && result.body == "body")
        #expect(harness.held.values.first?.response.entityTag?.text == (isSame ? newer : stored))
      }
    }
  }
}
