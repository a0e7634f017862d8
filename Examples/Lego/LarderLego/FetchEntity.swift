import ArgumentParser
import ExampleProgram
import Larder
import LegoCache
import Service

struct FetchEntity: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Gets entities from the store, or from the service if they are missing or expired.",
    discussion: """
      Fetched entities are stored. If the service cannot be reached, an expired entity is printed with a note. The key -1 \
      looks like an option: put -- before it.
      """)

  @Argument(help: "One of \(KindName.list).")
  var kind: KindName

  @Argument(
    help: "Numbers as the maker writes them: 3001, 10294-1, fig-000018; of a partcolor 3001/4.")
  var keys: [String]

  @OptionGroup var options: ServiceOptions

  @Flag(help: "Send a request even if the entity is stored.")
  var reload = false

  @Flag(help: "Print a line of JSON for each entity, with its source.")
  var json = false

  func run() async throws { try await run(kind.kind.type) }

  private func run<Entity: LegoEntity>(_ type: Entity.Type) async throws {
    let (client, requests) = try options.client()
    let progress = keys.count > 1 ? ProgressLine.atTerminal : nil
    var found: [(key: String, loaded: CacheResult<Entity>)] = []
    do {
      defer { progress?.clear() }
      for (place, key) in keys.enumerated() {
        progress?.advance(kind.kind.word, done: place, of: keys.count)
        let policy = reload ? RequestPolicy.reload : .standard
        guard let loaded = try await client.entity(type, key: key, policy: policy) else {
          throw Failure(
            .noSuchKey, "there is no \(kind.kind.singular) \(key)",
            hint: options.place.recording.offline
              ? "the recording has only a few entities" : nil)
        }
        found.append((key, loaded))
      }
    }
    try client.cache?.larder.close()
    for (key, loaded) in found {
      let shown = Shown(
        kind: kind.kind.singular, key: key, source: loaded.source,
        age: loaded.age / .seconds(1), error: loaded.error.map { "\($0)" }, entity: loaded.value)
      print(try json ? JSONOutput.text(shown) : JSONOutput.text(shown.entity, pretty: true))
      if !json { Console.show("\(shown.kind) \(key): \(loaded.words)") }
    }
    if json { return }
    print("\(requests.count.counted("request")) to the service")
    guard let cache = client.cache, cache.plan.usesDisk, let key = keys.first?.larderWord else {
      return
    }
    let name = cache.realm.name(kind.kind.namespace)
    print(
      "\n"
        + options.place.closing(
          "get @\(name) \(key)", "info @\(name) \(key)", "keys @\(name) --limit 5",
          "stats @\(name)"))
  }
}

private struct Shown<Entity: LegoEntity>: Encodable {
  var kind: String
  var key: String
  var source: CacheResult<Entity>.Source
  /// In seconds.
  var age: Double
  var error: String?
  var entity: Entity
}
