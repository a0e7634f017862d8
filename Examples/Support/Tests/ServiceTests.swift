import ExampleTesting

struct Thing: Codable, Equatable { var name: String }

/// The part that all adapters use. Tests of `LarderHTTP` cover waits, time limits, login pages and the kinds of failures.
@Suite(.fixture(TestedStores.self)) struct ServiceTests {
  private func service(at base: String) throws -> Service {
    let cache = HTTPCache(in: try Store.tested().namespace("http"), over: URLSessionTransport())
    var service = Service(at: base, over: cache)
    service.fields = [.authorization: "key abc"]
    service.message = { $0["detail"]?.text }
    return service
  }

  @Test func `credentials go to the service alone`() async throws {
    try await LocalServer.run { server in
      let service = try service(at: " \(server.base)/api/ ")
      let paths = ["/api/a?x=1%2F2&u=http://x", "/api/b", "/apis", "/c"]
      _ = try await service.send("/a?x=1%2F2&u=http://x")
      for path in paths.dropFirst() { _ = try await service.send(server.base + path) }
      #expect(server.received.map(\.path) == paths)
      let sent = server.received.map { $0.fields["authorization"] }
      #expect(sent == ["key abc", "key abc", nil, nil])
      for base in ["http://u:secret@127.0.0.1", "ftp://u:secret@127.0.0.1", "127.0.0.1"] {
        let service = try self.service(at: base)
        let error = await #expect(throws: ServiceError.self) { try await service.send("/x") }
        #expect(error.map { "\($0)".contains("secret") } == false, "\(base)")
      }
    }
  }

  @Test(arguments: [
    (403, #"{"detail": "not you"}"#, "the service answered 403: not you"),
    (404, "no such thing", "the service answered 404: no such thing"),
    (502, "<html>", "the service answered 502: no reason given"),
    (200, #"{"name": null}"#, "to /x is not what it should be: name is null"),
    (200, #"{"name":"trunc"#, "to /x is not what it should be: it is not JSON"),
    (200, "<html>", "a login page of this network may have sent it"),
  ]) func `an error is in words, and an answer of no use is not kept`(
    status: Int, body: String, words: String
  ) async throws {
    try await LocalServer.run { server in
      server.become { _ in .init(status, ["Cache-Control": "max-age=600"], text: body) }
      let service = try service(at: server.base)
      let error = await #expect(throws: ServiceError.self) {
        try await service.get(Thing.self, from: "/x?appid=secret")
      }
      #expect(error?.description.hasSuffix(words) == true, "\(error!)")
      server.become { _ in .init(json: #"{"name":"good"}"#) }
      if status == 200 { _ = try await service.get(Thing.self, from: "/x?appid=secret") }
    }
  }

  private struct Loose: Decodable {
    var count: Int?
    var share: Double?
    var flag: Bool?
    var id: String?
  }

  @Test func `fields and elements of another form do not hide the others`() throws {
    for (json, expected) in [
      (#"{"count": 3}"#, 3), (#"{"count": "+3"}"#, 3), (#"{}"#, nil), (#"{"count": []}"#, nil),
      (#"{"count": 1e99}"#, nil), (#"{"count": true}"#, nil), (#"{"share": "1e999"}"#, nil),
      (#"{"flag": "maybe"}"#, nil), (#"{"count": 1, "id": 9007199254740993}"#, 1),
    ] {
      let loose = try JSONDecoder().decode(Loose.self, from: Data(json.utf8))
      #expect(loose.count == expected && loose.share == nil && loose.flag == nil, "\(json)")
      #expect(loose.id == (expected == 1 ? "9007199254740993" : nil))
    }
    let text = #"[{"id": 1, "name": 1e999}, {"id": 2, "name": "b"}, null]"#
    let list = try JSONDecoder().decode(LenientList<Thing>.self, from: Data(text.utf8))
    #expect(list.elements == [Thing(name: "b")] && list.skipped.count == 2, "\(list)")
  }
}
