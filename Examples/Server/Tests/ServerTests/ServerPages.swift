import Configuration
import Hummingbird
import HummingbirdTesting
import Larder
import LarderHummingbird
import Testing

/// The programs in `Docs/Use/HTTP.md` and `Docs/Learn/Cookbook.md` that need Hummingbird or swift-configuration.
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

  @Test func `limits of a configuration`() async throws {
    let store = try Store.temporary()
    let bytes = AbsoluteConfigKey(["cache", "bytes"])
    let provider = MutableInMemoryProvider(initialValues: [bytes: 1_000_000])
    let configuration = ConfigReader(provider: provider)
    let following = Task {
      try await configuration.watchSnapshot { snapshots in
        for await snapshot in snapshots {
          do {
            try store.override(
              StoreLimits(
                bytes: snapshot.int(forKey: "cache.bytes"), disk: snapshot.int(forKey: "cache.disk")
              ))
          } catch {
            print("the limits stay as they were: \(error)")
          }
        }
      }
    }
    try await waitUntil { try store.limits().effective.bytes == 1_000_000 }
    provider.setValue(2_000_000, forKey: bytes)
    try await waitUntil { try store.limits().effective.bytes == 2_000_000 }
    for wrong: ConfigValue in [-1, "many"] { provider.setValue(wrong, forKey: bytes) }
    provider.setValue(nil, forKey: bytes)
    try await waitUntil { try store.limits().effective.bytes == nil }
    following.cancel()
    _ = await following.result
  }
}
