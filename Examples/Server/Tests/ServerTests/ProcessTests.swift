import Foundation
import Larder
import LarderTesting
import Testing

/// Two processes of the example over one store.
@Suite struct ProcessTests {
  /// A process of the server, which ends with this object.
  private final class Server {
    let process = Process()
    let port: Int

    init(over store: String) throws {
      let output = Pipe()
      let programs = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      process.executableURL = programs.appendingPathComponent("larder-server")
      process.arguments = [store, "0"]
      process.standardOutput = output
      try process.run()
      // The server writes its only line in one piece, so one read gets the whole line.
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      port = try #require(Int(line.filter(\.isNumber)))
    }

    deinit { end(by: SIGKILL) }

    func end(by signal: Int32 = SIGTERM) {
      kill(process.processIdentifier, signal)
      process.waitUntilExit()
    }

    func get(_ path: String, cookie: String? = nil) async throws -> Answer {
      // The requests to both processes have one host name, as behind a load balancer.
      var fields = ["Host": "example.com"]
      fields["Cookie"] = cookie
      return try await Client(port: port).send(path, "GET", fields)
    }
  }

  @Test func `sessions and responses are those of both processes, and outlive them`() async throws {
    let place = FileManager.default.temporaryDirectory.path + "/larder-server-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: place) }
    let first = try Server(over: place)
    let second = try Server(over: place)
    let visit = try await first.get("/visits")
    #expect(visit.text == "visit 1\n")
    let cookie = try #require(
      visit.fields["set-cookie"]?.split(separator: ";").first.map(String.init))
    #expect(try await second.get("/visits", cookie: cookie).text == "visit 2\n")
    // The server does not adopt a session id that it has not given.
    let foreign = try await second.get("/visits", cookie: "session=mine")
    #expect(foreign.text == "visit 1\n" && foreign.fields["set-cookie"]?.contains("mine") == false)

    let report = try await first.get("/reports/1")
    #expect(report.text.contains("by process \(first.process.processIdentifier)"))
    let shared = try await second.get("/reports/1")
    #expect(shared.text == report.text && shared.fields["age"] != nil)

    first.end(by: SIGKILL)
    #expect(try await second.get("/visits", cookie: cookie).text == "visit 3\n")
    second.end()
    #expect(second.process.terminationStatus == 0)
    let third = try Server(over: place)
    #expect(try await third.get("/visits", cookie: cookie).text == "visit 4\n")
    #expect(try await third.get("/reports/1").text == report.text)
    third.end()
    try Store(at: place).finish()
  }
}
