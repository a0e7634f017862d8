import Foundation
import HTTPTypes
import Larder
import TestSupport
import Testing

@testable import LarderHTTP

/// Random requests and answers. Some are usual, and some make no sense.
struct RandomMessages {
  var random: SeededRNG
  mutating func one<T>(_ choices: [T]) -> T { choices.randomElement(using: &random)! }
  mutating func happens(_ percent: Int) -> Bool { random.chance(percent: percent) }

  mutating func response(at now: Timestamp) -> HTTPResponse {
    var fields: Pairs = []
    func day(_ offset: Int) -> String { HTTPDate(now.advanced(by: .seconds(offset))).text }
    let directives = [
      "max-age=\(one([0, 1, 5, 50]))", "no-cache", "no-cache=\"a\"", "no-store",
      "must-revalidate", "public", "private", "immutable", "stale-while-revalidate=7",
      "stale-if-error=9", "must-understand", "max-age=x", "s-maxage=99", "garbage=\"",
    ]
    for _ in 0..<Int.random(in: 0..<4, using: &random) {
      fields.append(
        ("Cache-Control", one(directives) + (happens(30) ? ", " + one(directives) : "")))
    }
    if happens(30) { fields.append(("Expires", one([day(10), day(-10), "0", "x"]))) }
    if happens(50) { fields.append(("ETag", one(["\"1\"", "W/\"1\"", "\"2\"", "odd"]))) }
    if happens(40) { fields.append(("Last-Modified", one([day(-100), day(-5), "x"]))) }
    if happens(60) { fields.append(("Date", one([day(0), day(-3), day(9), "x"]))) }
    if happens(20) { fields.append(("Age", one(["3", "x", "4, 5"]))) }
    if happens(25) { fields.append(("Vary", one(["Foo", "Foo, Bar", "*", "Accept-Language"]))) }
    let status = one([200, 200, 200, 200, 206, 304, 404, 500, 503, 599, 299])
    if status == 206 { fields.append(("Content-Range", one(["bytes 0-3/9", "bytes 4-8/9", "x"]))) }
    return LarderHTTPTests.response(status, fields)
  }

  mutating func request(at now: Timestamp) -> HTTPRequest {
    var fields: Pairs = []
    let directives = [
      "no-cache", "no-store", "max-age=0", "max-age=4", "min-fresh=3", "max-stale", "max-stale=4",
      "only-if-cached", "stale-if-error=3",
    ]
    if happens(30) { fields.append(("Cache-Control", one(directives))) }
    if happens(30) { fields.append(("Foo", one(["1", "2"]))) }
    if happens(10) { fields.append(("Accept-Language", one(["de, en", "en, de", "de"]))) }
    if happens(15) { fields.append(("If-None-Match", one(["\"1\"", "*", "\"9\", \"2\""]))) }
    if happens(15) { fields.append(("Range", one(["bytes=0-1", "bytes=-2", "bytes=99-"]))) }
    if happens(10) { fields.append(("Authorization", one(["a", "b"]))) }
    let method = happens(85) ? "GET" : one(["HEAD", "POST", "DELETE", "FOO"])
    return LarderHTTPTests.request(method, "/a", fields)
  }
}

struct PropertyTests {
  static let seeds = TestSettings.seeds(corpus: 12)

  @Test(arguments: seeds)
  func `RFC 9111, 4: nothing is served past its freshness unless a rule allows it`(seed: UInt64) {
    var messages = RandomMessages(random: SeededRNG(seed: seed))
    let harness = HTTPHarness()
    for step in 0..<300 {
      harness.wait(messages.one([0, 1, 2, 5, 20, 90_000]))
      let request = messages.request(at: harness.now)
      let wish = RequestDirectives(request.headerFields)
      let before = harness.held.mapValues(\.response)
      let asked = harness.now
      let isDown = messages.happens(20)
      let answer = messages.response(at: harness.now)
      let result = harness.ask(request) { _ in
        if isDown { throw Origin.Down() }
        return (answer, answer.status.code == 206 ? "0123" : "012345678")
      }
      guard let reason = result.reason, reason != .onlyIfCached, reason != .completed else {
        continue
      }
      #expect(result.fields[values: .age].count == 1, "LARDER_SEED=\(seed), step \(step)")
      #expect(!wish.noStore, "LARDER_SEED=\(seed), step \(step)")
      if reason == .validated { continue }
      // At least one held response must permit an answer for the reason that the cache gave.
      var selecting = SelectingFields(request.headerFields, policy: harness.rules.policy)
      let allowed = before.values.contains { stored in
        guard stored.credential == harness.rules.credential(of: request),
          stored.vary.matches(&selecting, response: stored.fields)
        else { return false }
        let freshness = Freshness(of: stored, at: asked, policy: harness.rules.policy)
        let directives = stored.directives(for: .private)
        let late = max(0, -freshness.left)
        switch reason {
        case .fresh: return freshness.isFresh && !directives.noCache && !wish.noCache
        case .staleByRequest: return wish.maxStale != nil && !directives.forbidsStale
        case .staleWhileRevalidating:
          return late <= directives.staleWhileRevalidate && !directives.forbidsStale
            && !wish.noCache
        case .staleOnError:
          return [500, 503].contains(answer.status.code) && !directives.forbidsStale
            && late <= max(directives.staleIfError ?? 0, wish.staleIfError ?? 0)
            && directives.staleIfError != 0 && wish.staleIfError != 0
        case .staleDisconnected:
          return isDown && !directives.forbidsStale && !wish.noCache
            && late <= max(86_400, directives.staleIfError ?? 0, wish.staleIfError ?? 0)
            && directives.staleIfError != 0 && wish.staleIfError != 0
        default: return false
        }
      }
      #expect(allowed, "LARDER_SEED=\(seed), step \(step): \(reason) for \(request.headerFields)")
    }
  }

  @Test(arguments: seeds)
  func `storing then asking is stable, and outlives the coding of metadata`(seed: UInt64) throws {
    var messages = RandomMessages(random: SeededRNG(seed: seed))
    for step in 0..<300 {
      let harness = HTTPHarness()
      let plain = request(messages.happens(50) ? [("Foo", "1")] : [])
      let answer = messages.response(at: harness.now)
      harness.prime(
        answer.headerFields.map { ($0.name.rawName, $0.value) }, status: answer.status.code,
        body: "012345678", request: plain)
      let first = harness.ask(plain) { _ in (response(304), "") }
      for (key, value) in harness.held {
        let again = try #require(
          StoredResponse(metadata: value.response.encodedMetadata(), bodySize: value.body.count))
        #expect(again == value.response, "LARDER_SEED=\(seed), step \(step)")
        harness.held[key] = (again, value.body)
      }
      guard first.isFromCache else { continue }
      let second = harness.ask(plain)
      #expect(second.isFromCache && second.body == first.body, "LARDER_SEED=\(seed), step \(step)")
      #expect(second.fields == first.fields, "LARDER_SEED=\(seed), step \(step)")
    }
  }

  @Test(arguments: seeds) func `parsers take any bytes`(seed: UInt64) {
    var messages = RandomMessages(random: SeededRNG(seed: seed))
    let alphabet = Array("\"\\,;=-/ \t*W0123456789abcdefGMTjan:+.".utf8) + [0xFC, 0xC3]
    for _ in 0..<30 {
      let bytes = (0..<Int.random(in: 0..<40, using: &messages.random)).map { _ in
        messages.one(alphabet)
      }
      var fields = HTTPFields()
      for name in [
        HTTPField.Name.cacheControl, .age, .vary, .eTag, .range, .contentRange, .expires, .date,
        .lastModified, .ifNoneMatch, .ifModifiedSince, .ifRange, .acceptLanguage, .connection,
      ] { fields.append(HTTPField(name: name, lenientValue: bytes)) }
      let ask = with(request()) { $0.headerFields = fields }
      let harness = HTTPHarness(holding: fields.map { ($0.name.rawName, $0.value) }, request: ask)
      #expect(harness.ask(ask) { _ in (response(500), "") }.status > 0)
      #expect(fields[fields: .eTag].first?.valueBytes == bytes)
    }
  }
}

/// Tests with requests and responses that were recorded from real services. Without the recordings, the tests check nothing.
struct HeaderSetTests {
  struct Record: Decodable {
    var id: String
    var method: String
    var url: String
    var status: Int
    var requestHeaders: [[String]]
    var responseHeaders: [[String]]
  }

  static let file = Repository.root
    .appending(path: "../shared/data/http/header_sets.jsonl").standardizedFileURL

  static func records() throws -> [Record] {
    guard FileManager.default.fileExists(atPath: file.path) else {
      print("skipped: there is no \(file.path)")
      return []
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
      try decoder.decode(Record.self, from: Data($0.utf8))
    }
  }

  private func parts(_ record: Record) throws -> (HTTPRequest, HTTPResponse) {
    let url = try #require(URLComponents(string: record.url))
    let pairs = { (lists: [[String]]) in lists.map { ($0[0], $0[1]) } }
    let path = url.percentEncodedPath + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
    return (
      request(
        record.method, path, pairs(record.requestHeaders), host: url.host ?? "",
        scheme: url.scheme ?? "https"), response(record.status, pairs(record.responseHeaders))
    )
  }

  @Test func `what real services say is obeyed`() throws {
    var stored = 0
    var hits = 0
    let records = try Self.records()
    for record in records {
      let (request, response) = try parts(record)
      let harness = HTTPHarness()
      harness.now = HTTPDate(of: .date, in: response.headerFields, now: start)?.timestamp ?? start
      var plain = request
      plain.headerFields.removeAll(ClientCondition.fields)
      let body = response.status.code == 204 ? "" : "body"
      _ = harness.ask(plain) { _ in (response, body) }
      let directives = ResponseDirectives(response.headerFields, for: .private)
      if directives.noStore || response.headerFields[.vary]?.contains("*") == true {
        #expect(harness.held.isEmpty, "\(record.id)")
      }
      stored += harness.held.count
      let again = harness.ask(plain)
      if again.isFromCache { hits += 1 }
      if directives.noCache { #expect(!again.isFromCache, "\(record.id)") }
      // A request with the tag of the response gets a 304, even if the tag breaks the syntax of the standard.
      if again.isFromCache, again.status == 200,
        let tag = response.headerFields[fields: .eTag].first
      {
        var conditional = plain
        conditional.headerFields.append(with(tag) { $0.name = .ifNoneMatch })
        let result = harness.ask(conditional)
        #expect(result.status == 304 && result.isFromCache, "\(record.id)")
      }
      for value in harness.held.values {
        let metadata = value.response.encodedMetadata()
        #expect(StoredResponse(metadata: metadata, bodySize: value.body.count) == value.response)
        // A request that validates a held response must send its tag. A 304 without fields then updates the held response.
        let later = harness.ask(plain) { sent in
          if let tag = value.response.entityTag {
            #expect(sent.headerFields.lines(of: .ifNoneMatch).first == tag.text, "\(record.id)")
          }
          return (LarderHTTPTests.response(304), "")
        }
        #expect(later.status != 304 || !value.response.hasValidators, "\(record.id)")
      }
    }
    #expect(records.isEmpty || stored > 40 && hits > 15, "stored \(stored), hits \(hits)")
  }
}
