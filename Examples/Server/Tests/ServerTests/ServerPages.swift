import Hummingbird
import HummingbirdTesting
import Larder
import LarderHummingbird
import Testing

/// The programs of `Docs/Use/HTTP.md` that need Hummingbird.
@Suite struct ServerPages {
  @Test func `a server of Hummingbird`() async throws {
    let store = try Store.temporary()
    let router = Router()
    router.get("/") { _, _ in "page" }
    let sessions = LarderPersistDriver(in: store.namespace("sessions"))
    let responder = CachedResponder(router.buildResponder(), in: store.namespace("responses"))
    let server = Application(responder: responder, services: [sessions])
    try await server.test(.ahc()) { client in
      try await client.execute(uri: "/", method: .get) {
        #expect(String(buffer: $0.body) == "page")
      }
    }
  }
}
