// swift-tools-version: 6.2
import PackageDescription

// The rooms of `Sources` and `Tests` are the sections below; `Docs/Internals/Architecture.md` describes them.

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// For the layers that lend bytes: methods there return spans tied to a transaction.
let lending: [SwiftSetting] = strict + [.enableExperimentalFeature("Lifetimes")]

// MARK: - Kinds of targets

/// A part of `Sources`, in the folder of its name.
func module(
  _ room: String, _ name: String, _ dependencies: [Target.Dependency] = [],
  settings: [SwiftSetting] = strict
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(room)/\(name)",
    swiftSettings: settings)
}

/// A C library of the system, named by pkg-config and by the package managers that have it.
func systemLibrary(
  _ room: String, _ name: String, _ pkgConfig: String, apt: String, brew: String
) -> Target {
  .systemLibrary(
    name: name, path: "Sources/\(room)/\(name)", pkgConfig: pkgConfig,
    providers: [.apt([apt]), .brew([brew])])
}

/// The tests of a room, in the folder of their name.
func tests(_ room: String, _ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(room)/\(name)",
    swiftSettings: strict)
}

/// A program that tests start.
func testProgram(
  _ name: String, path: String, _ dependencies: [Target.Dependency]
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

/// A product of another package, or a C library, that is used with one trait alone.
func with(_ trait: String, _ product: String, of package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: [trait]))
}

func with(_ trait: String, _ target: String) -> Target.Dependency {
  .target(name: target, condition: .when(traits: [trait]))
}

let httpTypes = with("HTTP", "HTTPTypes", of: "swift-http-types")
let flyingSocks = with("HTTPTesting", "FlyingSocks", of: "FlyingFox")

// MARK: - Core

let core: [Target] = [
  systemLibrary("Core", "CLMDB", "lmdb", apt: "liblmdb-dev", brew: "lmdb"),
  .systemLibrary(name: "CLarderSystem", path: "Sources/Core/CLarderSystem"),
  module("Core", "LarderSystem", ["CLarderSystem"], settings: lending),
  module("Core", "LMDB", ["CLMDB", "CLarderSystem", "LarderSystem"], settings: lending),
  module(
    "Core", "Larder",
    [
      "LMDB", "LarderSystem",
      with("ServiceLifecycle", "ServiceLifecycle", of: "swift-service-lifecycle"),
    ], settings: lending),
]

// MARK: - Shell

let shell: [Target] = [
  systemLibrary("Shell", "CEditline", "libedit", apt: "libedit-dev", brew: "libedit"),
  module("Shell", "ShellLanguage", ["LarderSystem"]),
  module(
    "Shell", "LarderShell",
    ["Larder", "LarderCodecs", "LarderSystem", "ShellLanguage"]),
  module("Shell", "LarderTerminal", ["CEditline"]),
  .executableTarget(
    name: "LarderCommand",
    dependencies: [
      "Larder", "LarderCompression", "LarderShared", "LarderShell", "LarderSystem",
      "LarderTerminal", "ShellLanguage",
    ],
    path: "Sources/Shell/LarderCommand", swiftSettings: strict),
]

// MARK: - HTTP

let http: [Target] = [
  systemLibrary("HTTP", "CCurl", "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
  module("HTTP", "LarderHTTP", ["Larder", "LarderSystem", httpTypes]),
  module("HTTP", "LarderURLSession", ["LarderHTTP", httpTypes]),
  module("HTTP", "LarderCurl", ["LarderHTTP", "LarderSystem", httpTypes, with("Curl", "CCurl")]),
  module(
    "HTTP", "LarderAsyncHTTPClient",
    [
      "LarderHTTP", httpTypes,
      with("AsyncHTTPClient", "AsyncHTTPClient", of: "async-http-client"),
      with("AsyncHTTPClient", "NIOCore", of: "swift-nio"),
      with("AsyncHTTPClient", "NIOHTTP1", of: "swift-nio"),
      with("AsyncHTTPClient", "NIOPosix", of: "swift-nio"),
      with("AsyncHTTPClient", "NIOSSL", of: "swift-nio-ssl"),
    ]),
  module(
    "HTTP", "LarderHummingbird",
    [
      "Larder", "LarderHTTP", httpTypes,
      with("Hummingbird", "Hummingbird", of: "hummingbird"),
      with("Hummingbird", "NIOCore", of: "swift-nio"),
    ]),
]

// MARK: - Shared

let shared: [Target] = [
  module("Shared", "LarderShared", ["Larder", "LarderSystem"]),
  module(
    "Shared", "LarderRedis",
    [
      "Larder", "LarderShared",
      with("Redis", "NIOCore", of: "swift-nio"),
      with("Redis", "NIOPosix", of: "swift-nio"),
      with("Redis", "NIOSSL", of: "swift-nio-ssl"),
    ]),
  module(
    "Shared", "LarderValkey",
    [
      "Larder", "LarderShared",
      with("Valkey", "NIOCore", of: "swift-nio"),
      with("Valkey", "Valkey", of: "valkey-swift"),
    ]),
]

// MARK: - Extras

let extras: [Target] = [
  module("Extras", "LarderCodecs", ["Larder", "LarderSystem"], settings: lending),
  systemLibrary("Extras", "CZstd", "libzstd", apt: "libzstd-dev", brew: "zstd"),
  module("Extras", "Zstd", [with("Compression", "CZstd")]),
  module("Extras", "LarderCompression", ["Larder", "LarderSystem", "Zstd"]),
  module(
    "Extras", "LarderEncryption",
    ["Larder", "LarderSystem", with("Encryption", "Crypto", of: "swift-crypto")]),
  module(
    "Extras", "LarderMonitoring",
    [
      "Larder",
      with("Logging", "Logging", of: "swift-log"),
      with("Metrics", "CoreMetrics", of: "swift-metrics"),
    ]),
  module(
    "Extras", "LarderTracing",
    [
      "Larder", "LarderHTTP", httpTypes,
      with("Tracing", "Tracing", of: "swift-distributed-tracing"),
    ]),
]

// MARK: - Testing

let testing: [Target] = [
  module("Testing", "LarderTesting", ["Larder"]),
  module(
    "Testing", "LarderHTTPTesting",
    ["LarderHTTP", httpTypes, flyingSocks, with("HTTPTesting", "FlyingFox", of: "FlyingFox")]),
  module("Testing", "LarderSharedTesting", ["Larder", "LarderShared", "LarderSystem"]),
]

// MARK: - Tests

let testTargets: [Target] = [
  .target(
    name: "TestSupport", dependencies: ["Larder"], path: "Tests/Support/TestSupport",
    swiftSettings: strict),
  testProgram(
    "LarderPeer", path: "Tests/Support/Peer",
    ["LMDB", "LarderSystem", "Larder", "LarderHTTP", "TestSupport", httpTypes]),
  tests("Core", "LMDBTests", ["CLarderSystem", "LMDB", "LarderSystem", "LarderPeer"]),
  tests(
    "Core", "LarderTests", ["Larder", "LMDB", "LarderSystem", "LarderMonitoring", "LarderPeer"]),
  tests(
    "Shell", "LarderShellTests", ["LarderShell", "LarderCodecs", "ShellLanguage"]),
  tests(
    "Shell", "LarderCommandTests",
    [
      "LarderCommand", "LarderShared", "LarderSharedTesting", "LarderShell", "LarderTerminal",
      "LineEditorProbe", "Larder", "ShellLanguage",
    ]),
  testProgram("LineEditorProbe", path: "Tests/Shell/LineEditorProbe", ["LarderTerminal"]),
  tests(
    "HTTP", "LarderHTTPTests",
    [
      "LarderHTTP", "LarderHTTPTesting", "LarderURLSession", "LarderCurl", "Larder", "LarderPeer",
      httpTypes, flyingSocks,
    ]),
  tests(
    "Shared", "LarderSharedTests",
    ["LarderShared", "LarderSharedTesting", "LarderRedis", "Larder", flyingSocks]),
  tests(
    "Extras", "LarderCodecsTests", ["LarderCodecs", "Larder", "LarderSystem", "LarderTesting"]),
  tests("Extras", "LarderMonitoringTests", ["LarderMonitoring", "Larder", "LarderTesting"]),
  tests("Testing", "LarderTestingTests", ["LarderTesting", "Larder"]),
]

// MARK: - Package

let package = Package(
  name: "larder",
  platforms: [.macOS(.v15)],
  products: [
    "Larder",
    "LarderHTTP", "LarderURLSession", "LarderCurl", "LarderAsyncHTTPClient",
    "LarderHummingbird", "LarderShared", "LarderRedis", "LarderValkey",
    "LarderCodecs", "LarderCompression", "LarderEncryption", "LarderMonitoring", "LarderTracing",
    "LarderTesting", "LarderHTTPTesting", "LarderSharedTesting",
  ].map { .library(name: $0, targets: [$0]) } + [
    .executable(name: "larder", targets: ["LarderCommand"])
  ],
  traits: [
    // A package that uses the product Larder alone names `traits: []`, and fetches no other package.
    .default(enabledTraits: ["HTTP"]),
    .trait(name: "HTTP", description: "LarderHTTP and its transports, by swift-http-types."),
    .trait(
      name: "HTTPTesting", description: "LarderHTTPTesting, by FlyingFox.",
      enabledTraits: ["HTTP"]),
    .trait(
      name: "Curl", description: "Carries the requests of `HTTPCache` by the system's libcurl.",
      enabledTraits: ["HTTP"]),
    .trait(
      name: "AsyncHTTPClient",
      description: "Carries the requests of `HTTPCache` by AsyncHTTPClient.",
      enabledTraits: ["HTTP"]),
    .trait(
      name: "Hummingbird",
      description: "Sessions and cached responses of a server that uses Hummingbird.",
      enabledTraits: ["HTTP"]),
    .trait(
      name: "ServiceLifecycle", description: "Lets `Maintenance` run in a `ServiceGroup`."),
    .trait(name: "Logging", description: "Reports the events of a `StoreMonitor` to swift-log."),
    .trait(
      name: "Metrics", description: "Reports the figures of a `StoreMonitor` to swift-metrics."),
    .trait(
      name: "Tracing",
      description: "Spans of loads and of requests to origins, by swift-distributed-tracing."),
    .trait(name: "Compression", description: "Compresses values with the system's libzstd."),
    .trait(name: "Encryption", description: "Encrypts values and metadata by swift-crypto."),
    .trait(name: "Redis", description: "Connects `Shared` to a Redis or Valkey server."),
    .trait(name: "Valkey", description: "Connects `Shared` to servers by valkey-swift."),
  ],
  // Each is fetched and built only with the traits that name it.
  dependencies: [
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/valkey-io/valkey-swift", from: "1.4.0"),
  ],
  targets: core + shell + http + shared + extras + testing + testTargets
)
