import Foundation
import Hummingbird
import Larder
import LarderHummingbird

/// A server whose processes share sessions and responses, which outlive the processes: `larder-server STORE PORT`.
@main struct Server {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let port = Int(arguments[2]) else {
      FileHandle.standardError.write(Data("usage: larder-server STORE PORT\n".utf8))
      exit(2)
    }
    let store = try Store(at: arguments[1])
    let responder = CachedResponder(
      routes(LarderPersistDriver(in: store.namespace("sessions"))),
      in: store.namespace("responses"),
      report: { try? FileHandle.standardError.write(contentsOf: Data("\($0)\n".utf8)) })
    let server = Application(
      responder: responder, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { channel in
        let line = "listens on port \(channel.localAddress?.port ?? 0)\n"
        FileHandle.standardOutput.write(Data(line.utf8))
      })
    try await server.runService()
    try store.close()
  }

  static func routes(_ sessions: LarderPersistDriver) -> RouterResponder<BasicRequestContext> {
    let router = Router()
    router.get("/visits") { request, _ in
      // The server accepts only ids that it has given itself.
      let known = request.cookies["session"]?.value ?? ""
      let visits = try await sessions.get(key: known, as: Int.self)
      let id = visits == nil ? UUID().uuidString : known
      let visit = (visits ?? 0) + 1
      try await sessions.set(key: id, value: visit, expires: .seconds(3600))
      var response = text("visit \(visit)\n", cacheControl: "no-store")
      response.setCookie(Cookie(name: "session", value: id, httpOnly: true))
      return response
    }
    // A report is stored for a minute, for the clients of all processes.
    router.get("/reports/:day") { _, context in
      let day = try context.parameters.require("day")
      let process = ProcessInfo.processInfo.processIdentifier
      return text("report of \(day) by process \(process)\n", cacheControl: "max-age=60")
    }
    return router.buildResponder()
  }

  static func text(_ text: String, cacheControl: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/plain", .cacheControl: cacheControl],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}
