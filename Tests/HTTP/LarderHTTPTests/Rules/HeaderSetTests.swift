import Foundation
import HTTPTypes
import Larder
import TestSupport
import Testing

@testable import LarderHTTP

/// Tests with requests and responses that were recorded from real services. Without the recordings, the tests check nothing.
struct HeaderSetTests {
  struct Record: Decodable {
    var id: String
    var method: String
    var url: String
    var status: Int
    var request: [[String]]
    var response: [[String]]

    enum CodingKeys: String, CodingKey {
      case id, method, url, status
      case request = "request_headers"
      case response = "response_headers"
    }
  }

  static let file = Repository.root
    .appending(path: "../shared/data/http/header_sets.jsonl").standardizedFileURL

  static func records() throws -> [Record] {
    guard FileManager.default.fileExists(atPath: file.path) else {
      print("skipped: there is no \(file.path)")
      return []
    }
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
      try JSONDecoder().decode(Record.self, from: Data($0.utf8))
    }
  }

  private func parts(_ record: Record) throws -> (HTTPRequest, HTTPResponse) {
    let url = try #require(URLComponents(string: record.url))
    let pairs = { (lists: [[String]]) in lists.map { ($0[0], $0[1]) } }
    let path = url.percentEncodedPath + (url.percentEncodedQuery.map { "?" + $0 } ?? "")
    return (
      request(
        record.method, path, pairs(record.request), host: url.host ?? "",
        scheme: url.scheme ?? "https"),
      response(record.status, pairs(record.response))
    )
  }

  /// The time in the response's `Date`. If the response has no such field, `start`.
  private func moment(_ response: HTTPResponse) -> Timestamp {
    HTTPDate(of: .date, in: response.headerFields, now: start)?.timestamp ?? start
  }

  @Test func `what real services say is obeyed`() throws {
    var stored = 0
    var hits = 0
    for record in try Self.records() {
      let (request, response) = try parts(record)
      let harness = HTTPHarness()
      harness.now = moment(response)
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
        var field = tag
        field.name = .ifNoneMatch
        conditional.headerFields.append(field)
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
    if try !Self.records().isEmpty {
      #expect(stored > 40 && hits > 15, "stored \(stored), hits \(hits)")
    }
  }
}
